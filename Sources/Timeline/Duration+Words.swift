extension Duration {
    /// The duration as people read it, in its two largest units, cut and not rounded: `3 h 5 min`, `40 s`, `2 d`.
    ///
    /// Below a second it is `under 1 s`; a negative one counts as none.
    package var words: String {
        let total = max(0, microseconds / 1_000_000)
        guard total > 0 else { return "under 1 s" }
        let parts = [
            (total / 86_400, "d"), (total / 3600 % 24, "h"), (total / 60 % 60, "min"), (total % 60, "s"),
        ]
        let first = parts.firstIndex { $0.0 > 0 } ?? 0
        return parts[first...].prefix(2).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    /// The duration as a limit that somebody set: ``words``, or `1500 ms` where it has a part of a second.
    package var limitWords: String {
        microseconds % 1_000_000 == 0 ? words : "\(microseconds / 1000) ms"
    }
}
