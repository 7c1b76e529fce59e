/* Runs the real face.elf in a simulated ATmega328P. A test program, shipped with nothing: it is linked with libsimavr,
 * which is GPL-3.0-or-later, as this file is.
 *
 *   rig face.elf TTY TRACE [PACE]
 *
 * The chip's wire is a pseudo-terminal with a link to it at TTY. It runs at PACE percent of the wall clock (100), or
 * slower; with 0 its time stands still between commands and only `wait` lets it run, as fast as it can. Bytes that find
 * the chip's three places for them full are lost, as on the real chip. TRACE gets a line for what happened, times in
 * nanoseconds of the chip:
 *   S time joint width       a servo's pulse that has ended (width of its high)
 *   P time colours bad       pixels as they were latched (hex, G R B), and how many bits had a wrong length
 *   R time cause             a reset, with the bits of MCUSR
 *   > time bytes             what the chip got between two zeros (hex), when the second one came
 *   < time bytes             what the chip sent, in the same way
 *   O time                   a byte that was lost because the chip did not take those before
 *   T time high stack        end of the trace up to now: servo pins that are high (bits), lowest stack pointer
 * Commands come on standard input, a line each; "ok" is answered when it is done:
 *   flush                                write the trace out, with a T line
 *   pace PERCENT                         of the wall clock from now on; not 0
 *   send BYTES                           put bytes (hex) on the wire to the chip
 *   wait MS                              until so much of the chip's time has passed
 *   drop N | corrupt N                   the next N bytes to the chip
 *   noise DROP CORRUPT SEED              of each 10000 bytes, both directions, from now on
 *   button 0|1                           1: pressed
 *   power | external | brownout          a reset; power also forgets the RAM
 *   bootloader 0|1                       1: from now on resets go through one, which hands the cause over in r2
 *   eeprom AT VALUE                      set a byte of the EEPROM
 *   hang | go                            the program hangs where it sleeps next; and goes on
 *   unplug | plug                        the terminal goes away, and comes again
 */
#include "rig.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <simavr/avr_eeprom.h>
#include <simavr/sim_elf.h>

#define HERTZ 16000000u
#define CYCLES_PER_MS 16000u
#define CHUNK_CYCLES 1600u
#define MCUSR_AT 0x54

avr_t *avr;
FILE *trace;

static avr_cycle_count_t answer_at;
/* Of the wall clock; where both clocks were when it was set. */
static double pace = 1, paced_from;
static avr_cycle_count_t paced_cycle;
static uint16_t lowest_stack = UINT16_MAX;
static uint32_t hung_at;
static uint8_t hung_word[2];
static bool was_reset, has_bootloader, is_to_hang;
static void (*core_reset)(avr_t *);

/* ------------------------------------------------------------------------------------------- time */

static double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void set_pace(double percent)
{
    pace = percent / 100;
    paced_from = wall_seconds();
    paced_cycle = avr->cycle;
}

/* Until the wall clock has come as far as the chip. */
static void keep_pace(void)
{
    if (pace <= 0)
        return;
    double ahead = (double)(avr->cycle - paced_cycle) / HERTZ / pace - (wall_seconds() - paced_from);
    if (ahead > 0.001)
        usleep((unsigned)(ahead * 1e6));
}

/* ------------------------------------------------------------------------------------------- resets */

static void go(void)
{
    if (hung_at)
        memcpy(avr->flash + hung_at, hung_word, 2);
    hung_at = 0;
    is_to_hang = false;
}

static void on_reset(avr_t *chip)
{
    go();
    wire_reset();
    was_reset = true;
    core_reset(chip);
}

/* After a reset, and before the program's first instruction. */
static void note_reset(void)
{
    was_reset = false;
    pins_reset();
    fprintf(trace, "R %llu %u\n", ns(avr->cycle), avr->data[MCUSR_AT]);
    if (has_bootloader) {
        avr->data[2] = avr->data[MCUSR_AT];
        avr->data[MCUSR_AT] = 0;
    }
}

static void reset(avr_regbit_t cause, bool forgets)
{
    avr_reset(avr);
    if (forgets)
        for (uint32_t at = avr->ioend + 1u; at <= avr->ramend; at++)
            avr->data[at] = (uint8_t)wire_random();
    avr_regbit_set(avr, cause);
    note_reset();
}

/* A jump to itself where the program is; interrupts go on as they would in a real endless loop. */
static void hang(void)
{
    is_to_hang = false;
    if (hung_at)
        return;
    hung_at = avr->pc;
    memcpy(hung_word, avr->flash + hung_at, 2);
    avr->flash[hung_at] = 0xFF;
    avr->flash[hung_at + 1] = 0xCF;
}

/* ------------------------------------------------------------------------------------------- commands */

static void set_eeprom(unsigned at, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    avr_eeprom_desc_t place = {.ee = &byte, .offset = (uint16_t)at, .size = 1};
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &place);
}

static void flush(void)
{
    fprintf(trace, "T %llu %u %u\n", ns(avr->cycle), pins_high(), lowest_stack);
    fflush(trace);
}

static bool set_fault(const char *line)
{
    unsigned a, b, c;
    if (sscanf(line, "drop %u", &a) == 1)
        wire_faults.drop_next = a;
    else if (sscanf(line, "corrupt %u", &a) == 1)
        wire_faults.corrupt_next = a;
    else if (sscanf(line, "noise %u %u %u", &a, &b, &c) == 3)
        wire_faults.drop_rate = a, wire_faults.corrupt_rate = b, wire_seed(c);
    else if (sscanf(line, "bootloader %u", &a) == 1)
        has_bootloader = a;
    else if (sscanf(line, "eeprom %u %u", &a, &b) == 2)
        set_eeprom(a, b);
    else
        return false;
    return true;
}

static bool obey(const char *line)
{
    unsigned a;
    if (!strcmp(line, "flush"))
        flush();
    else if (sscanf(line, "pace %u", &a) == 1 && a > 0)
        set_pace(a);
    else if (!strncmp(line, "send ", 5))
        return wire_send(line + 5);
    else if (sscanf(line, "wait %u", &a) == 1)
        answer_at = avr->cycle + (avr_cycle_count_t)a * CYCLES_PER_MS;
    else if (sscanf(line, "button %u", &a) == 1)
        pins_press(a);
    else if (!strcmp(line, "power"))
        reset(avr->reset_flags.porf, true);
    else if (!strcmp(line, "external"))
        reset(avr->reset_flags.extrf, false);
    else if (!strcmp(line, "brownout"))
        reset(avr->reset_flags.borf, false);
    else if (!strcmp(line, "hang"))
        is_to_hang = true;
    else if (!strcmp(line, "go"))
        go();
    else if (!strcmp(line, "unplug"))
        wire_unplug();
    else if (!strcmp(line, "plug"))
        wire_plug();
    else
        return set_fault(line);
    return true;
}

static void answer(const char *text)
{
    puts(text);
    fflush(stdout);
}

/* False when nobody commands any more. While the chip stands still it waits for a command. */
static bool take_commands(void)
{
    static char line[2 * INBOX_BYTES + 64];
    static size_t length;
    struct pollfd ready = {.fd = 0, .events = POLLIN};
    if (answer_at) {
        if (avr->cycle < answer_at)
            return true;
        answer_at = 0;
        answer("ok");
    }
    while (answer_at == 0 && poll(&ready, 1, pace <= 0 ? -1 : 0) > 0) {
        char byte;
        if (read(0, &byte, 1) <= 0)
            return false;
        if (byte != '\n' && length < sizeof line - 1) {
            line[length++] = byte;
            continue;
        }
        line[length] = 0;
        length = 0;
        if (!obey(line))
            answer("no");
        else if (answer_at == 0)
            answer("ok");
    }
    return true;
}

/* ------------------------------------------------------------------------------------------- the chip */

static void no_sleep(avr_t *chip, avr_cycle_count_t cycles)
{
    (void)chip;
    (void)cycles;
}

static void quiet(avr_t *chip, const int level, const char *format, va_list values)
{
    (void)chip;
    if (level <= LOG_ERROR)
        vfprintf(stderr, format, values);
}

static bool start_chip(const char *elf)
{
    elf_firmware_t firmware = {0};
    avr_global_logger_set(quiet);
    avr = avr_make_mcu_by_name("atmega328p");
    if (avr == NULL || elf_read_firmware(elf, &firmware) != 0)
        return false;
    avr_init(avr);
    firmware.eesize = 0; /* flashing leaves the EEPROM as it is */
    avr_load_firmware(avr, &firmware);
    avr->frequency = HERTZ;
    avr->vcc = avr->avcc = avr->aref = 5000;
    avr->sleep = no_sleep;
    core_reset = avr->reset;
    avr->reset = on_reset;
    pins_connect();
    return true;
}

static avr_cycle_count_t on_alarm(avr_t *chip, avr_cycle_count_t when, void *param)
{
    (void)chip;
    (void)when;
    (void)param;
    return 0;
}

/* For so long; false when the chip has crashed. */
static bool run(avr_cycle_count_t cycles)
{
    avr_cycle_count_t until = avr->cycle + cycles;
    /* A sleeping chip jumps to the next timer; this one keeps it from jumping too far. */
    avr_cycle_timer_register(avr, cycles, on_alarm, NULL);
    wire_feed();
    while (avr->cycle < until) {
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed)
            return false;
        if (was_reset)
            note_reset();
        if (is_to_hang && state == cpu_Sleeping)
            hang();
        uint16_t stack = (uint16_t)(avr->data[R_SPL] | avr->data[R_SPH] << 8);
        if (stack > avr->ioend && stack < lowest_stack)
            lowest_stack = stack;
    }
    return true;
}

int main(int count, char **arguments)
{
    if (count < 4 || count > 5) {
        fprintf(stderr, "rig face.elf TTY TRACE [PACE]\n");
        return 2;
    }
    trace = fopen(arguments[3], "w");
    if (trace == NULL || !start_chip(arguments[1]) || !wire_connect(arguments[2])) {
        fprintf(stderr, "rig: cannot start\n");
        return 1;
    }
    reset(avr->reset_flags.porf, true);
    answer("ready");
    set_pace(count == 5 ? atof(arguments[4]) : 100);
    while (take_commands()) {
        if (!run(CHUNK_CYCLES)) {
            fprintf(stderr, "rig: the chip crashed\n");
            return 1;
        }
        pins_latch();
        keep_pace();
    }
    fclose(trace);
    wire_unplug();
    return 0;
}
