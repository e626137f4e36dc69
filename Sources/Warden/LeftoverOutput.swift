/// The log of a run that ended, shared by the pipes that processes it left behind still write to.
final class LeftoverOutput {
    var file: OutputFile

    init(_ file: OutputFile) {
        self.file = file
    }
}
