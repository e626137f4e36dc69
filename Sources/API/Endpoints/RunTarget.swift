/// A run as people name it: `JOB#N`, or `JOB` alone for a run of the job that the daemon chooses.
///
/// Which one that is, each endpoint says: the newest one, or for a cancellation the active one. In a path it is the
/// word `newest` in place of the number.
package enum RunTarget: Hashable, Sendable, CustomStringConvertible {
    /// This run.
    case run(RunName)
    /// The run that the job's name stands for.
    case newest(of: String)

    private static let word = "newest"

    /// Reads `JOB#N` or `JOB`; nil when `text` is anything else.
    package init?(_ text: String) {
        if let name = RunName(text) {
            self = .run(name)
        } else if !text.isEmpty, !text.contains("#") {
            self = .newest(of: text)
        } else {
            return nil
        }
    }

    /// The job.
    package var job: String {
        switch self {
        case .run(let name): name.job
        case .newest(let job): job
        }
    }

    /// `JOB#N` or `JOB`.
    package var description: String {
        switch self {
        case .run(let name): "\(name)"
        case .newest(let job): job
        }
    }

    /// Whether the number of a path means the run that the job's name stands for.
    static func isWord(_ segment: String) -> Bool { segment == word }
}

extension RunTarget: PathParameters {
    /// A name, and a number or `newest`.
    package static var kinds: [PathKind] { [.text, .ordinalOrNewest] }

    /// The run of a name and a number, or of a name alone.
    package init?(segments: [String]) {
        guard segments.count == 2 else { return nil }
        if Self.isWord(segments[1]) {
            self = .newest(of: segments[0])
        } else if let name = RunName(segments: segments) {
            self = .run(name)
        } else {
            return nil
        }
    }

    /// The name, and the number or `newest`.
    package var segments: [String] {
        switch self {
        case .run(let name): name.segments
        case .newest(let job): [job, Self.word]
        }
    }
}

extension Endpoint where Path == RunTarget, Body == Nothing {
    /// The call for one run.
    package func callAsFunction(_ run: RunName, query: Query = Query()) -> Call<Answer> {
        self(.run(run), query: query)
    }
}
