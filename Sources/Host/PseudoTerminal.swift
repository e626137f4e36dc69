import CLinux
import Glibc

/// A terminal without a screen: what is written to one side is read at the other.
package final class PseudoTerminal: Sendable {
    /// Our side, non-blocking: what the processes print is read here, what is typed is written.
    package let master: Descriptor

    /// Opens one of this size, and the side that the processes get.
    ///
    /// As long as that is open, also here, ``master`` does not end.
    package static func open(
        rows: Int, columns: Int
    ) throws(HostError) -> (terminal: PseudoTerminal, slave: Descriptor) {
        let master = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        var unlocked: Int32 = 0
        guard unsafe clinux_ioctl(master.raw, clinux_tiocsptlck(), &unlocked) == 0 else {
            throw .last("ioctl(TIOCSPTLCK)")
        }
        // Not by its path: that could be another file system's by now.
        let flags = UInt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        let slave = try Descriptor(
            clinux_ioctl_number(master.raw, clinux_tiocgptpeer(), flags), call: "ioctl(TIOCGPTPEER)")
        let terminal = PseudoTerminal(master)
        try terminal.resize(rows: rows, columns: columns)
        return (terminal, slave)
    }

    private init(_ master: Descriptor) {
        self.master = master
    }

    /// Gives it another size; its foreground processes get SIGWINCH when it differs.
    package func resize(rows: Int, columns: Int) throws(HostError) {
        var size = winsize(
            ws_row: UInt16(clamping: rows), ws_col: UInt16(clamping: columns), ws_xpixel: 0, ws_ypixel: 0)
        guard unsafe clinux_ioctl(master.raw, clinux_tiocswinsz(), &size) == 0 else {
            throw .last("ioctl(TIOCSWINSZ)")
        }
    }

    /// The process group that reads from it now; nil when nobody has it as controlling terminal.
    package var foregroundGroup: Int32? {
        var group: Int32 = 0
        guard unsafe clinux_ioctl(master.raw, clinux_tiocgpgrp(), &group) == 0, group > 0 else { return nil }
        return group
    }

    /// The character that ends the input when it is typed at the beginning of a line.
    ///
    /// Ctrl-D unless a process chose otherwise.
    package var endOfFile: UInt8 {
        var settings = termios()
        guard unsafe tcgetattr(master.raw, &settings) == 0 else { return 4 }
        return unsafe withUnsafeBytes(of: &settings.c_cc) { unsafe $0[Int(VEOF)] }
    }
}
