import Glibc
package import Host

/// What a run printed, as the warden keeps it: readable while the run still prints.
///
/// Standard output and standard error, in the order in which they arrived, as plain bytes:
/// - `PATH` holds the beginning, up to the head's limit; it is made with the first byte.
/// - `PATH.d/OFFSET`, with OFFSET the decimal count of bytes printed before it, holds a later piece. Each
///   piece is a quarter of the tail's limit long, the newest one may be shorter. Only the newest four are
///   kept, so that between three quarters of the limit and the limit is there. Most runs have no such
///   folder, and reading one never looks at the files of another.
/// - Where one file's end is less than the next one's OFFSET, the bytes between were dropped.
///
/// A reader that opens a piece reads it to its end even when it is dropped meanwhile.
package struct OutputLog: Sendable {
    /// Bytes of the output that follow one another.
    package struct Slice: Hashable, Sendable {
        /// How many bytes the run printed before the first of these.
        package var offset: Int
        /// The bytes; empty when there is nothing more now.
        package var bytes: [UInt8]

        /// Where to read on.
        package var end: Int { offset + bytes.count }
    }

    /// The path of the head file, as the start order named it.
    package let path: String

    /// The log at `path`; opens nothing.
    package init(path: String) {
        self.path = path
    }

    /// The first bytes at or after `offset` that are still kept, at most `limit` of them.
    ///
    /// The slice's own offset is larger than the one asked for when bytes between were dropped.
    /// A run that printed nothing has no file: the slice is empty.
    package func read(from offset: Int, limit: Int = 1 << 16) throws(HostError) -> Slice {
        if let slice = try read(0, from: offset, limit), !slice.bytes.isEmpty { return slice }
        while true {
            let pieces = try pieceOffsets()
            // The last file that begins at or before the offset; if it was dropped or is read out, the next that
            // holds anything: on a full disk one may be empty.
            for start in pieces.suffix(from: pieces.lastIndex { $0 <= offset } ?? 0) {
                guard let slice = try read(start, from: max(start, offset), limit) else { continue }
                if !slice.bytes.isEmpty { return slice }
            }
            // A piece may have been dropped between looking and reading: look again, the list has moved.
            if try pieceOffsets() == pieces { return Slice(offset: offset, bytes: []) }
        }
    }

    /// Whether there is anything to read.
    package var exists: Bool { unsafe access(path, F_OK) == 0 }

    /// Removes the log's files; missing ones are ignored.
    package func remove() {
        for offset in (try? pieceOffsets()) ?? [] { unsafe unlink(file(offset)) }
        unsafe rmdir(pieceFolder)
        unsafe unlink(path)
    }

    /// The file that holds the bytes from `offset` on.
    package func file(_ offset: Int) -> String {
        offset == 0 ? path : "\(pieceFolder)/\(offset)"
    }

    /// Where the pieces after the head are.
    package var pieceFolder: String { path + ".d" }

    private func read(_ start: Int, from offset: Int, _ limit: Int) throws(HostError) -> Slice? {
        let descriptor: Descriptor
        do throws(HostError) {
            descriptor = try Descriptor.open(file(start), O_RDONLY)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = unsafe pread(descriptor.raw, &buffer, limit, offset - start)
        guard count >= 0 else { throw .last("pread", path) }
        return Slice(offset: offset, bytes: Array(buffer[..<count]))
    }

    /// Where the files begin, ascending; the head's 0 first.
    package func pieceOffsets() throws(HostError) -> [Int] {
        guard unsafe access(pieceFolder, F_OK) == 0 else { return [0] }
        let names: [String]
        do throws(HostError) {
            names = try Folder.names(in: pieceFolder)
        } catch {
            if error.code == ENOENT { return [0] }
            throw error
        }
        return [0] + names.compactMap { Int($0) }.filter { $0 > 0 }.sorted()
    }
}

/// Reads a job's `NOTIFY_SOCKET`.
package enum NotifyDatagrams {
    /// The longest datagram that is accepted; longer ones are dropped.
    package static let limit = 8192

    /// What waits in the socket, in order, at most 64 datagrams.
    package static func read(
        from socket: Descriptor
    ) throws(HostError) -> (datagrams: [[UInt8]], mayHaveMore: Bool) {
        var buffer = [UInt8](repeating: 0, count: limit + 1)
        return try read(from: socket, into: &buffer)
    }

    /// What waits in the socket, in order, at most `most` datagrams; `buffer` has room for more than ``limit``.
    ///
    /// Descriptors that come along are closed at once: `systemd-notify` waits for that (`BARRIER=1`),
    /// up to 5 s. A datagram with nothing else in it is omitted.
    /// - Source: sd_notify(3), sd_notify_barrier.
    package static func read(
        from socket: Descriptor, most: Int = 64, into buffer: inout [UInt8]
    ) throws(HostError) -> (datagrams: [[UInt8]], mayHaveMore: Bool) {
        var datagrams: [[UInt8]] = []
        for _ in 0..<most {
            var received: [Descriptor] = []
            let reading = try LocalSocket.receive(from: socket, into: &buffer, received: &received)
            switch reading {
            case .bytes(let count):
                let datagram = buffer[..<count]
                if count <= limit, !datagram.elementsEqual("BARRIER=1".utf8) {
                    datagrams.append(Array(datagram))
                }
            case .end: continue  // An empty datagram looks like an end; there is none on this socket.
            case .wouldBlock: return (datagrams, false)
            }
        }
        return (datagrams, true)
    }
}
