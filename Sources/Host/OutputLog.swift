import Glibc

/// What a run printed, as its performer keeps it: readable while the run still prints.
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

    /// Whether it has outgrown its head.
    package var hasPieces: Bool { unsafe access(pieceFolder, F_OK) == 0 }

    /// Removes the log's files; missing ones are ignored.
    package func remove() {
        for offset in (try? pieceOffsets()) ?? [] { unsafe unlink(file(offset)) }
        unsafe rmdir(pieceFolder)
        unsafe unlink(path)
    }

    /// Leaves of a log that nobody writes any more its last bytes alone, at most `most` of them; its offsets begin at 0 then.
    ///
    /// A log that can't be read stays as it is.
    package func keepLast(_ most: Int) {
        guard let pieces = try? pieceOffsets(), let last = pieces.last,
            let newest = try? Descriptor.open(file(last), O_RDONLY)
        else { return }
        let end = last + Int(lseek(newest.raw, 0, SEEK_END))
        guard end > most else { return }
        var bytes: [UInt8] = []
        var place = end - most
        while let slice = try? read(from: place), !slice.bytes.isEmpty {
            bytes += slice.bytes
            place = slice.end
        }
        guard (try? SmallFile.replace(path, with: Array(bytes.suffix(most)))) != nil else { return }
        for offset in pieces.dropFirst() { unsafe unlink(file(offset)) }
        unsafe rmdir(pieceFolder)
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
        guard hasPieces else { return [0] }
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

/// Writes what a run prints, bounded, in the form that ``OutputLog`` reads.
///
/// Never refuses bytes: when the disk does, they are counted and dropped, and writing continues in a new
/// piece, so that the offsets stay true.
package struct OutputFile {
    private let log: OutputLog
    private let headBytes: Int
    private let pieceBytes: Int
    private var file: Descriptor?
    private var room: Int
    private var pieces: [Int] = []

    /// How many bytes were printed so far.
    package private(set) var count = 0

    /// Starts the log, in place of an older one at the same path.
    ///
    /// The head file is made with the first byte: most jobs print nothing, and then there is no file. `headBytes` of the
    /// beginning are kept, and at most `tailBytes` of the newest after them.
    /// - Throws: ``HostError/missing(path:)`` when the log belongs into the state folder and that is not there; outside
    ///   of it, when its folder's own folder is not.
    package init(
        path: String, headBytes: Int, tailBytes: Int, state: String? = nil
    ) throws(HostError) {
        log = OutputLog(path: path)
        // An empty head and the first piece would have one name.
        self.headBytes = max(1, headBytes)
        pieceBytes = tailBytes == 0 ? 0 : max(1, tailBytes / 4)
        room = self.headBytes
        let folder = SmallFile.parent(of: path)
        if unsafe access(folder, W_OK) != 0 {
            guard errno == ENOENT else { throw .last("access", folder) }
            let base = state.flatMap { folder == $0 || folder.hasPrefix($0 + "/") ? $0 : nil }
            try PrivateFolder.make(folder, within: base ?? SmallFile.parent(of: folder))
        }
        if log.exists { log.remove() }
    }

    /// Adds what was printed next.
    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            if count == 0 { openHead() } else if room == 0 || file == nil { openPiece() }
            guard let file else {
                count += rest.count
                return
            }
            let part = rest.prefix(room)
            do throws(HostError) {
                try file.writeAll(part)
                room -= part.count
                // Only what is written makes an older piece go.
                if pieces.count > 4 { unsafe unlink(log.file(pieces.removeFirst())) }
            } catch {
                giveUpPiece()
            }
            count += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    private mutating func openHead() {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        file = try? Descriptor.open(log.path, flags, mode: 0o600)
    }

    private mutating func openPiece() {
        file = nil
        guard pieceBytes > 0 else { return }
        if pieces.isEmpty { unsafe mkdir(log.pieceFolder, 0o700) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
        guard let opened = try? Descriptor.open(log.file(count), flags, mode: 0o600) else { return }
        file = opened
        room = pieceBytes
        pieces.append(count)
    }

    /// The disk is full: the next bytes begin a piece of their own; an empty piece is removed.
    private mutating func giveUpPiece() {
        defer { file = nil }
        guard let file, let start = pieces.last, lseek(file.raw, 0, SEEK_CUR) == 0 else { return }
        unsafe unlink(log.file(start))
        pieces.removeLast()
    }
}
