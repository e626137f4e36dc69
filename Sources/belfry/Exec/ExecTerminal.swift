import Glibc
import Host
import Performing

/// This process's own terminal while the command behind it has another one: every key goes there as it is.
final class ExecTerminal {
    private let saved: termios?
    private var isRaw = false

    /// Notes how the terminal is set now; changes nothing.
    init() {
        var settings = termios()
        saved = unsafe tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }

    deinit { leaveRaw() }

    /// Lets keys through one by one, Ctrl-C among them; does nothing where standard input is no terminal.
    func enterRaw() {
        guard var raw = saved, !isRaw else { return }
        unsafe cfmakeraw(&raw)
        isRaw = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0
    }

    /// Makes the terminal what it was.
    func leaveRaw() {
        guard var settings = saved, isRaw else { return }
        unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        isRaw = false
    }

    /// How large it is; 24 rows of 80 where there is none.
    static var size: Performing.TerminalSize {
        for descriptor in [STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO] {
            var size = winsize()
            guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { continue }
            let found = Performing.TerminalSize(rows: Int(size.ws_row), columns: Int(size.ws_col))
            if found.isValid { return found }
        }
        return Performing.TerminalSize(rows: 24, columns: 80)
    }
}
