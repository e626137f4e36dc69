import DesktopChannel
import Host
import Performing
import ProgramChannel
import WardenProtocol

extension Terminal {
    /// Debian's name of the terminal that a person chose.
    private static let program = "x-terminal-emulator"

    /// The terminal of the session that this daemon belongs to, started like a program of a channel: the daemon itself
    /// starts nothing.
    ///
    /// `belfry` is the one beside this daemon, and asks it at its `socket`.
    init(on desk: ProgramDesk, socket: String) {
        self.init(isThere: { Self.path != nil }) { arguments, token in
            guard let terminal = Self.path, let client = try? InstalledWarden.program(beside: "belfry") else {
                return "\(Self.program) or a screen for it is missing"
            }
            // Whoever reads a log sees its end before the window closes. The terminal lives on by itself.
            let script = arguments.first == "chat" ? #""$@""# : #""$@"; printf '\n[Enter]'; read -r _"#
            let start = #"exec setsid --fork "$@" >/dev/null 2>&1"#
            let words =
                ["/bin/sh", "-c", start, "belfry", terminal, "-e", "/bin/sh", "-c", script, "belfry", client]
                + arguments
            var environment = ["BELFRY_SOCKET": socket]
            for name in ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"] {
                environment[name] = Machine.environment[name]
            }
            for name in ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"] { environment[name] = token }
            var order = ProcessOrder(
                key: RunKey(run: "terminal", attempt: 1), work: .command(words), environment: environment,
                timeout: nil, grace: .seconds(2), output: .init(path: ""))
            order.stdin = .none
            switch await desk.run(order, named: "terminal-\(UniqueID.v7(at: .now))") {
            case .ended(let record, _) where record.exitCode == 0: return nil
            case .ended: return "\(Self.program) failed"
            case .failed(let reason): return reason
            }
        }
    }

    /// Where it is; nil: there is none, or no screen.
    private static var path: String? {
        let environment = Machine.environment
        guard environment["DISPLAY"] ?? environment["WAYLAND_DISPLAY"] != nil else { return nil }
        return Machine.program(program, in: environment["PATH"])
    }
}
