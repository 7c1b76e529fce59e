// What the box is doing, as far as its events tell; the same rules as the box's own face has (face/doing.py).

const ERROR_MILLISECONDS = 4000;
const FROM_STATE = { listening: "listening", thinking: "working", running: "working", speaking: "working", asking: "working" };

export class Doing {
  constructor(isMuted, state) {
    this.isMuted = isMuted;
    this.turn = FROM_STATE[state] ?? "idle";
    this.isSpeaking = state === "speaking";
    this.asked = new Set();
    this.errorUntil = 0;
    this.mood = "neutral";
    this.problem = "";
  }

  tell(event) {
    switch (event.event) {
      case "TurnStarted":
        this.turn = event.origin === "typed" ? "working" : "listening";
        break;
      case "SpeechEnded":
      case "ToolStarted":
        this.turn = "working";
        break;
      case "WakeDetected":
        this.turn = "listening";
        break;
      case "TurnEnded":
        this.turn = "idle";
        this.asked.clear();
        break;
      case "PlaybackStarted":
        if (event.lane === "speech") this.isSpeaking = true;
        break;
      case "PlaybackFinished":
        this.isSpeaking = false;
        break;
      case "ApprovalRequested":
        this.asked.add(event.request_id);
        break;
      case "ApprovalDecided":
        this.asked.delete(event.request_id);
        break;
      case "MuteChanged":
        this.isMuted = event.is_muted;
        break;
      case "EmotionChanged":
        this.mood = event.emotion;
        break;
      case "ErrorRaised":
        if (event.where !== "model") {
          this.errorUntil = Date.now() + ERROR_MILLISECONDS;
          this.problem = event.message;
        }
    }
  }

  activity() {
    if (this.asked.size) return "asking";
    if (this.isSpeaking) return "speaking";
    if (this.turn !== "idle") return this.turn;
    if (Date.now() < this.errorUntil) return "error";
    return this.isMuted ? "muted" : "idle";
  }
}
