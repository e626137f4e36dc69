import ArgumentParser
import Glibc
import Host
import TerminalView
import Tracking

/// A process beside a view that gives the terminal its settings back when the view was killed and could not.
///
/// It has nothing to do otherwise: when the view ends, it looks whether the terminal is still as the view set it. A shell
/// that has it back by then has set it to its own liking, and is left alone, but for the view's screen, which no shell
/// leaves. It is in a session of its own, so that a signal to all of a shell's job does not end it, too.
final class TerminalGuard {
    static let command = "terminal-guard"
    /// Which screen is shown, as bytes on its ``line``.
    static let entered = UInt8(ascii: "i")
    static let left = UInt8(ascii: "o")
    /// Closed when this process ends, however it does.
    let line: Descriptor

    /// Starts it.
    ///
    /// - Parameters:
    ///   - saved: the settings before the view.
    ///   - taken: the settings that the view gave it.
    ///   - clearing: what takes away the terminal's reports of runs.
    /// - Throws: what the system has against another process.
    init(saved: termios, taken: termios, clearing: [UInt8]) throws(HostError) {
        let (read, write) = try Descriptor.pipe(nonblockingRead: false)
        let terminal = try Descriptor.duplicate(of: STDOUT_FILENO)
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let program = ChildProgram(
            path: try Machine.executablePath(),
            arguments: ["belfry", Self.command]
                + (clearing.isEmpty ? [] : ["--clear", Base64.encode(clearing)]),
            environment: Machine.environment, folder: "/", descriptors: [read, terminal, nothing])
        try write.writeAll((Self.bytes(of: saved) + Self.bytes(of: taken))[...])
        _ = try program.start()
        line = write
    }

    private static func bytes(of settings: termios) -> [UInt8] {
        unsafe withUnsafeBytes(of: settings) { unsafe Array($0) }
    }
}

/// See ``TerminalGuard``, which starts it.
struct TerminalGuardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: TerminalGuard.command,
        abstract: "Gives the terminal its settings back when a view was killed.", shouldDisplay: false)

    @Option(help: "Also write these bytes, in base64.")
    var clear: String?

    func validate() throws {
        guard Descriptor.isPipe(STDIN_FILENO), isatty(STDOUT_FILENO) == 1 else {
            throw ValidationError("belfry watch starts this itself")
        }
    }

    func run() throws {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTTOU, SIGTTIN, SIGTSTP, SIGPIPE] {
            Glibc.signal(number, SIG_IGN)
        }
        var saved = termios()
        var taken = termios()
        guard Self.read(&saved), Self.read(&taken) else { return }
        // The end of the view ends this.
        let isOnScreen = Self.waitForEnd()
        var now = termios()
        let isAsTaken =
            unsafe tcgetattr(STDOUT_FILENO, &now) == 0 && now.c_lflag == taken.c_lflag
            && now.c_iflag == taken.c_iflag
        guard isAsTaken || isOnScreen else { return }
        let reset = Array("\u{1B}[?2026l\u{1B}[?2004l\u{1B}[?25h".utf8)
        StandardOutput.write(
            reset + (isOnScreen ? ScreenPainter.leave : []) + (clear.flatMap(Base64.decode) ?? []))
        // Last: once these settings are back, everything is.
        if isAsTaken, unsafe tcsetattr(STDOUT_FILENO, TCSANOW, &saved) != 0 {
            throw HostError.last("tcsetattr")
        }
        if isOnScreen, !isAsTaken { Self.redrawPrompt() }
    }

    /// Makes a shell print its prompt again, which was faster and printed it on the view's screen.
    ///
    /// Shells do so only when the size of their terminal changes, so it has one row less for a moment.
    private static func redrawPrompt() {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 1 else { return }
        var other = size
        other.ws_row -= 1
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCSWINSZ), &other) == 0 else { return }
        usleep(30_000)
        var now = winsize()
        // Somebody may have changed it meanwhile.
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &now) == 0, now.ws_row == other.ws_row,
            now.ws_col == other.ws_col
        else { return }
        _ = unsafe ioctl(STDOUT_FILENO, UInt(TIOCSWINSZ), &size)
    }

    /// Waits until the view has ended; whether its own screen was shown then.
    private static func waitForEnd() -> Bool {
        var isOnScreen = false
        while true {
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return isOnScreen }
            isOnScreen = byte == TerminalGuard.entered
        }
    }

    /// Reads one record of settings; whether all of it came.
    private static func read(_ settings: inout termios) -> Bool {
        unsafe withUnsafeMutableBytes(of: &settings) { bytes in
            var count = 0
            while count < bytes.count, let start = bytes.baseAddress {
                let got = unsafe Glibc.read(STDIN_FILENO, start + count, bytes.count - count)
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { return false }
                count += got
            }
            return true
        }
    }
}
