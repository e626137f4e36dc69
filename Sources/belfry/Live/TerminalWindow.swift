import API
import Glibc
import Host

/// A window of the person's terminal with a command of Belfry in it, opened from where there is none: a status bar.
enum TerminalWindow {
    /// Terminals by name, those that a person chose first, with what stands before the command.
    ///
    /// - Source: Debian policy 11.8.3 for `x-terminal-emulator -e`; the specification of xdg-terminal-exec.
    private static let programs: [(name: String, lead: [String])] = [
        ("xdg-terminal-exec", []), ("x-terminal-emulator", ["-e"]), ("foot", []), ("alacritty", ["-e"]),
        ("kitty", []), ("konsole", ["-e"]), ("gnome-terminal", ["--"]), ("xterm", ["-e"]),
    ]

    /// Opens one with `belfry` and these arguments; it lives on by itself.
    static func open(_ arguments: [String], client socket: String?) throws(APIError) {
        guard let (path, lead) = found else {
            throw APIError(
                .internalFault, "no terminal was found", hint: "Name yours: export TERMINAL=foot")
        }
        do throws(HostError) {
            let nothing = try Descriptor.open("/dev/null", O_RDWR)
            let words = [path] + lead + [try Machine.executablePath()] + arguments
            var environment = Machine.environment
            if let socket { environment["BELFRY_SOCKET"] = socket }
            _ = try ChildProgram(
                path: path, arguments: words, environment: environment,
                descriptors: [nothing, nothing, nothing]
            ).start()
        } catch {
            throw APIError(.internalFault, "\(path) can't be started: \(error)")
        }
    }

    private static var found: (path: String, lead: [String])? {
        let environment = Machine.environment
        if let own = environment["TERMINAL"], !own.isEmpty, let path = path(of: own) {
            let name = own.split(separator: "/").last.map(String.init) ?? own
            return (path, programs.first { $0.name == name }?.lead ?? ["-e"])
        }
        for program in programs {
            if let path = path(of: program.name) { return (path, program.lead) }
        }
        return nil
    }

    private static func path(of program: String) -> String? {
        guard !program.contains("/") else { return unsafe access(program, X_OK) == 0 ? program : nil }
        return Machine.program(program, in: Machine.environment["PATH"])
    }
}
