import Timeline

/// The moment `seconds` after the run was queued.
func at(_ seconds: Double) -> Moment { Moment(microseconds: Int64(seconds * 1_000_000)) }
