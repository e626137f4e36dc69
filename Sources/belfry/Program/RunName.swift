import API
import ArgumentParser

/// `JOB#N`, as the command line takes it.
struct RunName: ExpressibleByArgument, Hashable, CustomStringConvertible {
    let job: String
    let ordinal: Int

    init?(argument: String) {
        let parts = argument.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let ordinal = Int(parts[1]), ordinal > 0 else {
            return nil
        }
        job = String(parts[0])
        self.ordinal = ordinal
    }

    var description: String { "\(job)#\(ordinal)" }

    static var defaultCompletionKind: CompletionKind { Completions.runs }
}
