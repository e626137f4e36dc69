package import Timeline

extension ExitRecord {
    /// When it ended, counted from its start by a clock that nobody sets, where somebody saw it end: a clock that
    /// was set meanwhile neither stretches it nor ends it before its start.
    package var end: Moment { max(startedAt, elapsed.map { startedAt + $0 } ?? endedAt) }
}
