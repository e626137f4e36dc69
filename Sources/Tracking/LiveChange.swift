/// The effect of a report on a live state.
public enum LiveChange: Hashable, Sendable {
    /// Nothing anybody would see.
    case none
    /// Progress, phase, message or finish time changed: shown, and written at most once a second.
    case tick
    /// The run's state, its reason or what blocks it changed: written at once.
    case stateChange
}
