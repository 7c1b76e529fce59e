"""Settings of the face."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class FaceConfig:
    """What shows the face, and how lively."""

    backends: tuple[str, ...] = setting(
        ("terminal",),
        "what shows the face, several at once: terminal (only when the output is one), picture (a PNG), serial (a "
        "microcontroller), led, strip, servo, pca9685, matrix, oled, screen; [] shows none",
    )
    picture_file: str = setting("", 'PNG that the picture backend keeps up to date; "" is face.png in the home')
    poses_per_second: float = setting(25.0, "how often the face moves", at_least=1.0, at_most=50.0)
    quiet_percent: float = setting(
        20.0,
        "how bright the lights are in the quiet hours of [device], in percent",
        at_least=0,
        at_most=100,
        is_live=True,
    )
    serial_port: str = setting(
        "", 'serial: its port, best a name from /dev/serial/by-id; "" takes the only serial adapter there is'
    )
    led_pins: tuple[str, ...] = setting(
        ("GPIO22", "GPIO23", "GPIO24"), "led: the pins of red, green and blue, each with a resistor"
    )
    led_is_common_anode: bool = setting(False, "led: the long leg is at 3.3 V, so a low pin lights it")
    led_brightness_percent: float = setting(
        100.0, "led: most current that the lamp may get, in percent", at_least=1, at_most=100
    )
    strip_device: str = setting(
        "/dev/spidev0.0", "strip: SPI device whose data line (MOSI) feeds WS2812 lights; nothing else on its bus"
    )
    strip_lights: int = setting(16, "strip: how many lights there are", at_least=1, at_most=400)
    strip_brightness_percent: float = setting(
        25.0, "strip: most current that a light may get, in percent; 16 at 100 need almost 1 A", at_least=1, at_most=100
    )
    servo_joints: tuple[str, ...] = setting(
        ("lid=0", "mouth=1"),
        "servo: which channel of the board's pulse generator moves what (brow_left, brow_right, lid, mouth, neck); "
        "with servo_software which pin, as lid=GPIO5",
    )
    servo_chip: str = setting(
        "", 'servo: device of the pulse generator (from /sys/class/pwm/pwmchip*/device); "" takes a Raspberry Pi\'s'
    )
    servo_software: bool = setting(
        False,
        "servo: make the pulses in software, in steps of about 20 degrees and trembling; only if nothing else goes",
    )
    pca9685_joints: tuple[str, ...] = setting(
        ("brow_left=0", "brow_right=1", "lid=2", "mouth=3", "neck=4"), "pca9685: which output (0 to 15) moves what"
    )
    pca9685_address: int = setting(0x40, "pca9685: its address on the I2C bus (64 is 0x40)", at_least=3, at_most=119)
    i2c_bus: int = setting(1, "pca9685 and oled: number of the I2C bus, as in /dev/i2c-1", at_least=0, at_most=99)
    oled_height: int = setting(64, "oled: 64 or 32, for an SSD1306 of 128x64 or 128x32 pixels", at_least=32, at_most=64)
    oled_address: int = setting(0x3C, "oled: its address on the I2C bus (60 is 0x3c)", at_least=3, at_most=119)
    matrix_device: str = setting("/dev/spidev0.0", "matrix: SPI device of the MAX7219 modules of 8x8 lights")
    matrix_modules: int = setting(1, "matrix: how many are in the chain", at_least=1, at_most=4)
    matrix_turned_degrees: int = setting(
        0, "matrix: how far each module is turned to the right: 0, 90, 180 or 270", at_least=0, at_most=270
    )
    matrix_brightness_percent: float = setting(25.0, "matrix: how bright it may get", at_least=1, at_most=100)
    screen_device: str = setting("/dev/fb0", "screen: framebuffer of a screen on the board, whose picture we replace")
