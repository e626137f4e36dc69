import Foundation

/// A screen nobody sees: Xvfb on a display number of its own.
package final class VirtualScreen: Sendable {
    /// What goes into `DISPLAY`.
    package let display: String
    private let server: ChildProcess

    /// Whether the programs for it are here.
    package static let isInstalled = ["Xvfb", "dunst"].allSatisfy { program in
        ["/usr/bin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: $0 + "/" + program)
        }
    }

    /// Starts a screen and waits until clients may connect.
    package static func start() async throws -> VirtualScreen {
        let server = try ChildProcess(
            "Xvfb", ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"], isQuiet: true)
        guard let number = await server.line(where: { Int($0) != nil }) else {
            throw NotStarted(program: "Xvfb")
        }
        return VirtualScreen(display: ":" + number, server: server)
    }

    private init(display: String, server: ChildProcess) {
        self.display = display
        self.server = server
    }

    /// Starts dunst here, on the bus at `address`, with its built-in settings.
    ///
    /// Returns before it has the server's name: wait for that on the bus.
    package func startDunst(at address: String) throws -> ChildProcess {
        try ChildProcess(
            "dunst", ["-config", "/dev/null"],
            environment: [
                "DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": address, "WAYLAND_DISPLAY": nil,
            ], isQuiet: true)
    }
}
