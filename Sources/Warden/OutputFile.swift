import CLinux
import Glibc
import Host
import Performing
import WardenProtocol

/// Writes what a run prints, bounded, in the form that ``OutputLog`` reads.
///
/// Never refuses bytes: when the disk does, they are counted and dropped, and writing continues in a new
/// piece, so that the offsets stay true.
struct OutputFile {
    private let log: OutputLog
    private let headBytes: Int
    private let pieceBytes: Int
    private var file: Descriptor?
    private var room: Int
    private var pieces: [Int] = []

    /// How many bytes were printed so far.
    private(set) var count = 0

    /// Starts the log, in place of an older one at the same path.
    ///
    /// The head file is made with the first byte: most jobs print nothing, and then there is no file.
    ///
    /// - Throws: ``HostError/missing(path:)`` when the log belongs into the state folder and that is not there; outside
    ///   of it, when its folder's own folder is not.
    init(_ output: ProcessOrder.Output, state: String? = nil) throws(HostError) {
        log = OutputLog(path: output.path)
        // An empty head and the first piece would have one name.
        headBytes = max(1, output.headBytes)
        pieceBytes = output.tailBytes == 0 ? 0 : max(1, output.tailBytes / 4)
        room = headBytes
        let folder = SmallFile.parent(of: output.path)
        if unsafe access(folder, W_OK) != 0 {
            guard errno == ENOENT else { throw .last("access", folder) }
            let base = state.flatMap { folder == $0 || folder.hasPrefix($0 + "/") ? $0 : nil }
            try PrivateFolder.make(folder, within: base ?? SmallFile.parent(of: folder))
        }
        if log.exists { log.remove() }
    }

    mutating func append(_ bytes: ArraySlice<UInt8>) {
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

/// The newest bytes of a stream, for the record of its run's end.
struct RecentBytes {
    private var bytes: [UInt8] = []

    /// At most ``ExitRecord/tailLimit`` of them.
    var newest: [UInt8] { Array(bytes.suffix(ExitRecord.tailLimit)) }

    mutating func append(_ more: ArraySlice<UInt8>) {
        if more.count >= ExitRecord.tailLimit {
            bytes = Array(more.suffix(ExitRecord.tailLimit))
            return
        }
        bytes += more
        // Not with each short piece: what is in front is moved only now and then.
        if bytes.count > 2 * ExitRecord.tailLimit { bytes.removeFirst(bytes.count - ExitRecord.tailLimit) }
    }
}

/// The write end of a reader's pipe: writes what has room at once and keeps the rest, in order.
final class OutputSink {
    let descriptor: Descriptor
    private var waiting: [UInt8] = []
    private var start = 0
    /// Nobody reads the other end any more; what is written is dropped.
    private(set) var isBroken = false

    init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
    }

    /// Whether bytes wait for the reader.
    var hasWaiting: Bool { start < waiting.count }

    func write(_ bytes: ArraySlice<UInt8>) {
        guard !isBroken else { return }
        let sent = hasWaiting ? 0 : send(bytes)
        if !isBroken { waiting += bytes.dropFirst(sent) }
    }

    /// Writes what has room now of what waits.
    func flush() {
        guard hasWaiting else { return }
        start += send(waiting[start...])
        guard isBroken || !hasWaiting else { return }
        waiting = []
        start = 0
    }

    private func send(_ bytes: ArraySlice<UInt8>) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = bytes.dropFirst(sent)
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor.raw, $0.baseAddress, $0.count)
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                isBroken = true
                return bytes.count
            }
        }
        return sent
    }
}

/// Cuts what comes out of a `PROGRESS_FD` into lines.
struct LineSplitter {
    /// The longest line that is passed on; of a longer one nothing is.
    static let limit = 8192

    private var partial: [UInt8] = []
    private var isTooLong = false

    /// The lines that `bytes` completed, without their ends, empty ones left out.
    mutating func split(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            if let line = finish() { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        add(rest)
        return lines
    }

    /// What stands after the last line's end, when nothing more comes.
    mutating func finish() -> [UInt8]? {
        defer {
            partial = []
            isTooLong = false
        }
        if partial.last == 0x0D { partial.removeLast() }
        return partial.isEmpty || isTooLong ? nil : partial
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        if partial.count + bytes.count > Self.limit { isTooLong = true }
        if !isTooLong { partial += bytes }
    }
}
