/// Through which door a report came; a higher one silences the lower ones for the rest of the attempt.
///
/// Once a source has reported progress, lower sources only supply message text.
public enum ReportSource: Int, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// Found in what the job prints, without a rule for how to read it.
    case text
    /// Found in what the job prints, by a parser the job names.
    case parser
    /// A progress sequence for terminals: OSC 9;4, OSC 7501.
    case osc
    /// `NOTIFY_SOCKET` or `PROGRESS_FD`.
    case native

    /// The source that loses is smaller.
    public static func < (left: ReportSource, right: ReportSource) -> Bool {
        left.rawValue < right.rawValue
    }
}
