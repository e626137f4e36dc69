package import Foundation

/// Reads a pipe line by line on a thread of its own.
///
/// Not by `readabilityHandler`: an event source whose descriptor is closed too early takes the process with it.
package enum PipeLines {
    /// The lines that arrive at `handle`, until its other end is closed.
    package static func stream(of handle: FileHandle) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let thread = Thread {
            var rest = Data()
            while case let part = handle.availableData, !part.isEmpty {
                rest.append(part)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest.removeSubrange(rest.startIndex...end)
                }
            }
            continuation.finish()
        }
        thread.start()
        return stream
    }
}
