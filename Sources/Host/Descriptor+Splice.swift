import CLinux
import Glibc

extension Descriptor {
    /// Whether the open file is a pipe.
    package static func isPipe(_ raw: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(raw, &status) == 0 && status.st_mode & 0o170000 == 0o010000
    }

    /// Moves up to `limit` bytes from this pipe to the pipe `target`, without copying and without waiting.
    ///
    /// - Returns: ``Reading/wouldBlock`` when this one is empty or the other one is full.
    /// - Throws: `EPIPE` when nobody reads the other one any more.
    /// The corresponding C function is `splice`.
    package func splice(to target: Int32, limit: Int = 1 << 20) throws(HostError) -> Reading {
        while true {
            // SPLICE_F_MOVE and SPLICE_F_NONBLOCK.
            let count = clinux_splice(raw, target, limit, 3)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: throw .last("splice")
            }
        }
    }

    /// Makes a pipe hold more than its 64 KiB; a pipe that may not grow stays as it is.
    package func enlargePipe(to bytes: Int32 = 1 << 20) {
        _ = clinux_fcntl(raw, 1031, bytes)  // F_SETPIPE_SZ
    }
}
