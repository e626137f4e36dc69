import CLinux
import Glibc
import Host
import Performing
import WardenProtocol

/// Writes what a run prints, bounded, in the form that ``OutputLog`` reads.
///
/// Never refuses bytes: when the disk does, they are counted and gone, and writing goes on in a new
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

    /// The disk took no more: the next bytes begin a piece of their own, and one that is empty is none.
    private mutating func giveUpPiece() {
        defer { file = nil }
        guard let file, let start = pieces.last, lseek(file.raw, 0, SEEK_CUR) == 0 else { return }
        unsafe unlink(log.file(start))
        pieces.removeLast()
    }
}
