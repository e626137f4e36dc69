import Host

/// Reads a pipe line by line on a thread of its own.
///
/// Not by Foundation's `FileHandle`: its event source takes the process with it when the descriptor is closed too
/// early, and its blocking read when a signal arrives.
enum PipeLines {
    /// The lines that arrive at `pipe`, until its other end is closed.
    static func stream(of pipe: Descriptor) throws(HostError) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        try BackgroundThread.start(named: "lines") {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var rest: [UInt8] = []
            while case .bytes(let count)? = try? pipe.read(into: &buffer) {
                let parts = buffer[..<count].split(separator: 0x0A, omittingEmptySubsequences: false)
                for (number, part) in parts.enumerated() {
                    rest += part
                    guard number < parts.count - 1 else { break }
                    continuation.yield(String(decoding: rest, as: UTF8.self))
                    rest = []
                }
            }
            continuation.finish()
        }
        return stream
    }
}
