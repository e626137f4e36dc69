import Host

/// One of the two streams a job writes to.
///
/// Without a terminal attached both are one pipe, ``output``, so that their order is kept.
enum OutputStream: CaseIterable {
    case output, errors
}

extension RunPipes {
    subscript(pipe stream: OutputStream) -> Descriptor? {
        get { stream == .output ? outputPipe : errorPipe }
        set { if stream == .output { outputPipe = newValue } else { errorPipe = newValue } }
    }

    subscript(sink stream: OutputStream) -> OutputSink? {
        get { stream == .output ? outputSink : errorSink }
        set { if stream == .output { outputSink = newValue } else { errorSink = newValue } }
    }
}
