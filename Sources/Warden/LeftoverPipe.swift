import Host
import Performing

/// The log of a run that ended, shared by the pipes that processes it left behind still write to.
final class LeftoverOutput {
    var file: OutputFile

    init(_ file: OutputFile) {
        self.file = file
    }
}

/// A pipe of a run that ended, held open by processes it left behind.
struct LeftoverPipe {
    let pipe: Descriptor
    let output: LeftoverOutput
    /// Where copies go, as while the run lived; nil: nobody reads them.
    var sink: OutputSink?
    let stream: OutputStream
    /// Who is notified once everything from before the run's end is with its reader.
    var terminal: (link: UInt64, key: RunKey)?

    init(_ pipe: Descriptor, _ output: LeftoverOutput, sink: OutputSink?, stream: OutputStream) {
        self.pipe = pipe
        self.output = output
        self.sink = sink?.isBroken == true ? nil : sink
        self.stream = stream
    }
}

/// What is still read and passed on of runs that ended.
struct LateOutputs {
    /// Pipes that processes which outlived their run still hold open.
    var leftovers: [UInt64: LeftoverPipe] = [:]
    /// What those who were attached to runs that ended have not read yet.
    var lastWords: [UInt64: OutputSink] = [:]

    /// Whether somebody attached still gets output of a run that ended.
    var isPassedOn: Bool { !lastWords.isEmpty || leftovers.values.contains { $0.sink != nil } }
}
