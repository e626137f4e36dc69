import Host

/// Streams that somebody at a terminal offered for one order, and where to report it.
struct Attachment {
    /// The connection it was offered on.
    let link: UInt64
    /// Becomes the job's standard input; nil: nothing to read.
    var input: Descriptor?
    /// Where copies of standard output and standard error go; nil: nowhere.
    var output: OutputSink?
    var errors: OutputSink?

    /// Takes `streams` by number; two pipes that would block are refused.
    init(link: UInt64, streams: [Int: Descriptor]) throws(HostError) {
        self.link = link
        input = streams[0]
        output = try streams[1].map(Self.sink)
        errors = try streams[2].map(Self.sink)
    }

    private static func sink(_ descriptor: Descriptor) throws(HostError) -> OutputSink {
        // One open file, whoever set it: the offerer's end is another one.
        try descriptor.setNonblocking()
        return OutputSink(descriptor)
    }
}
