import Foundation

/// A `dbus-daemon` of the test's own; nothing outside the test is on it, and it starts nothing by itself.
package final class PrivateBus: Sendable {
    /// What a client connects to.
    package let address: String
    /// The daemon, to stop, continue and kill.
    package let daemon: ChildProcess
    private let folder: TemporaryFolder

    /// Starts a bus and waits until it accepts.
    ///
    /// - Parameters:
    ///   - folder: where the socket `bus` is made; the same folder again gives the same address.
    ///   - services: the bus starts these programs when somebody asks for the name.
    /// - Returns: a bus that accepts; killed when let go.
    /// - Throws: ``NotStarted`` when `dbus-daemon` is missing or fails.
    package static func start(
        in folder: TemporaryFolder? = nil, services: [String: String] = [:]
    ) async throws -> PrivateBus {
        let folder = try folder ?? TemporaryFolder()
        let servicesFolder = folder.file("services")
        try? FileManager.default.createDirectory(atPath: servicesFolder, withIntermediateDirectories: false)
        for (name, command) in services {
            let text = "[D-BUS Service]\nName=\(name)\nExec=\(command)\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: servicesFolder + "/\(name).service"))
        }
        let address = "unix:path=\(folder.file("bus"))"
        let config = """
            <busconfig>
              <type>session</type>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <servicedir>\(servicesFolder)</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        try Data(config.utf8).write(to: URL(fileURLWithPath: folder.file("bus.conf")))
        try? FileManager.default.removeItem(atPath: folder.file("bus"))
        let daemon = try ChildProcess(
            "dbus-daemon", ["--config-file=\(folder.file("bus.conf"))", "--nofork", "--print-address"],
            isQuiet: true)
        guard await daemon.line(where: { $0.hasPrefix("unix:") }) != nil else {
            throw NotStarted(program: "dbus-daemon")
        }
        return PrivateBus(address: address, daemon: daemon, folder: folder)
    }

    private init(address: String, daemon: ChildProcess, folder: TemporaryFolder) {
        self.address = address
        self.daemon = daemon
        self.folder = folder
    }
}

/// A program the tests need did not come up; its own words are on standard error.
package struct NotStarted: Error {
    /// Which one.
    package var program: String

    /// `program` did not come up.
    package init(program: String) {
        self.program = program
    }
}

/// Our own notification server, a process of its own; see `Tests/Support/notification-server.py`.
package final class NotificationServer: Sendable {
    /// The process: SIGSTOP makes it hang, ``ChildProcess/end()`` makes it die.
    package let process: ChildProcess

    /// Starts a server on the bus at `address` and waits until it has the name.
    ///
    /// - Parameters:
    ///   - address: the bus.
    ///   - options: further words of its command line, as `--capabilities body`.
    /// - Returns: a server that answers; killed when let go.
    /// - Throws: ``NotStarted`` when it ends instead.
    package static func start(
        at address: String, _ options: [String]
    ) async throws -> NotificationServer {
        let process = try ChildProcess(
            PythonTools.interpreter(),
            [PythonTools.script("notification-server.py"), "--address", address] + options)
        guard await process.line(where: { $0 == "ready" }) != nil else {
            throw NotStarted(program: "notification-server.py")
        }
        return NotificationServer(process: process)
    }

    /// The same, with the options one by one.
    package static func start(at address: String, _ options: String...) async throws -> NotificationServer {
        try await start(at: address, options)
    }

    private init(process: ChildProcess) {
        self.process = process
    }

    /// The next call of `method` it gets; others before it are passed over.
    ///
    /// `nil` when it ends first.
    package func next(_ method: String = "Notify") async throws -> ServerCall? {
        while let line = await process.line(where: { $0.hasPrefix("{") }) {
            let call = try JSONDecoder().decode(ServerCall.self, from: Data(line.utf8))
            if call.method == method { return call }
        }
        return nil
    }

    /// Says that a notification was closed, with the specification's reason 1...4.
    package func close(_ id: UInt32, reason: Int) throws {
        try process.write("close \(id) \(reason)")
    }

    /// Presses a button.
    package func press(_ key: String, of id: UInt32) throws {
        try process.write("action \(id) \(key)")
    }

    /// Gives away what lets a window come to the front, before the button that is pressed next.
    package func activate(_ id: UInt32, token: String) throws {
        try process.write("token \(id) \(token)")
    }

    /// The titles and texts on its screen as `TITLE|TEXT`, the oldest first; of a server that is like another one.
    package func shown() async throws -> [String] {
        try process.write("shown")
        return try await next("shown")?.actions ?? []
    }

    /// Emits a signal of a job's view, as `cancelRequested`.
    package func signal(_ member: String, ofJob path: String) throws {
        try process.write("job \(path) \(member)")
    }

    /// Types a reply.
    package func reply(_ text: String, to id: UInt32) throws {
        try process.write("reply \(id) \(text)")
    }

    /// Keeps its answers to `Notify` back from now on, while it answers everything else.
    package func hold() async throws {
        try process.write("hold")
        _ = await process.line(where: { $0 == "ok" })
    }

    /// Gives the answers that it kept back, and keeps back no more.
    package func release() throws {
        try process.write("release")
    }

    /// Answers every `Notify` from now on with this error, or properly again with `nil`.
    package func refuse(_ error: String?) async throws {
        try process.write("refuse \(error ?? "-")")
        _ = await process.line(where: { $0 == "ok" })
    }
}

/// A call that ``NotificationServer`` got.
package struct ServerCall: Decodable, Sendable {
    /// `Notify`, `CloseNotification`, `GetCapabilities` or `GetServerInformation`.
    package var method: String
    /// Who called, as a unique name.
    package var sender: String
    /// The id given to, or closed by, the call; 0 for other methods.
    package var id: UInt32
    /// The name of the app.
    package var appName: String
    /// The id to take over; 0 for a new one.
    package var replacesID: UInt32
    /// An icon name or URI.
    package var icon: String
    /// The title.
    package var summary: String
    /// The text below it.
    package var body: String
    /// Keys and labels in turn.
    package var actions: [String]
    /// Each hint as its D-Bus type and value, as `y:1`, `b:true`, `s:belfry`.
    package var hints: [String: String]
    /// Milliseconds; -1 is up to the server, 0 is for ever.
    package var expiry: Int

    private enum CodingKeys: String, CodingKey {
        case method, sender, id, summary, body, actions, hints
        case appName = "app_name"
        case replacesID = "replaces_id"
        case icon = "app_icon"
        case expiry = "expire_timeout"
    }

    /// Reads a line of the server.
    /// - Throws: `DecodingError` when it is not one.
    package init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: CodingKeys.self)
        method = try line.decode(String.self, forKey: .method)
        sender = try line.decode(String.self, forKey: .sender)
        id = try line.decodeIfPresent(UInt32.self, forKey: .id) ?? 0
        appName = try line.decodeIfPresent(String.self, forKey: .appName) ?? ""
        replacesID = try line.decodeIfPresent(UInt32.self, forKey: .replacesID) ?? 0
        icon = try line.decodeIfPresent(String.self, forKey: .icon) ?? ""
        summary = try line.decodeIfPresent(String.self, forKey: .summary) ?? ""
        body = try line.decodeIfPresent(String.self, forKey: .body) ?? ""
        actions = try line.decodeIfPresent([String].self, forKey: .actions) ?? []
        hints = try line.decodeIfPresent([String: Hint].self, forKey: .hints)?.mapValues(\.text) ?? [:]
        expiry = try line.decodeIfPresent(Int.self, forKey: .expiry) ?? -1
    }
}

private struct Hint: Decodable {
    var text: String

    private enum CodingKeys: String, CodingKey { case type, value }

    init(from decoder: any Decoder) throws {
        let hint = try decoder.container(keyedBy: CodingKeys.self)
        let type = try hint.decode(String.self, forKey: .type)
        switch type {
        case "s": text = "s:" + (try hint.decode(String.self, forKey: .value))
        case "b": text = "b:" + String(try hint.decode(Bool.self, forKey: .value))
        case "d": text = "d:" + String(try hint.decode(Double.self, forKey: .value))
        default: text = type + ":" + String(try hint.decode(Int64.self, forKey: .value))
        }
    }
}

/// A keyring of its own on a private bus: GNOME Keyring with one collection, unlocked by a password.
package final class Keyring: Sendable {
    /// The bus that it serves.
    package let bus: PrivateBus
    private let folder: TemporaryFolder
    private let daemon: ChildProcess

    /// Starts a bus and a keyring on it.
    ///
    /// - Throws: ``NotStarted`` when a program is missing, or the keyring does not answer.
    package init() async throws {
        bus = try await PrivateBus.start()
        folder = try TemporaryFolder()
        let path = folder.path
        daemon = try ChildProcess(
            "sh",
            [
                "-c",
                """
                cd \(path) && mkdir -m 700 data run && printf pw > pw || exit
                export DBUS_SESSION_BUS_ADDRESS=\(bus.address) HOME=\(path)
                export XDG_RUNTIME_DIR=\(path)/run XDG_DATA_HOME=\(path)/data
                exec gnome-keyring-daemon --unlock --foreground --components=secrets < pw
                """,
            ], isQuiet: true)
        let ping = "dbus-send --session --print-reply --dest=\(Self.service) / org.freedesktop.DBus.Peer.Ping"
        try await run("timeout 60 sh -c 'until \(ping); do sleep 0.05; done'")
    }

    private static let service = "org.freedesktop.secrets"

    /// Keeps a secret under the attribute `belfry=name`; another one of the same name needs another label.
    package func store(_ secret: String, as name: String, label: String = "Belfry") async throws {
        let store = "secret-tool store --label \(label) belfry \(name) label \(label)"
        // Its collection is made a moment after its name.
        try await run("timeout 60 sh -c 'until printf %s \(secret) | \(store); do sleep 0.05; done'")
    }

    /// Locks all that it holds.
    package func lock() async throws {
        try await run(
            """
            dbus-send --session --print-reply --dest=\(Self.service) /org/freedesktop/secrets \
            org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login
            """)
    }

    private func run(_ text: String) async throws {
        let words = "export DBUS_SESSION_BUS_ADDRESS=\(bus.address)\n" + text
        guard try await Shell.run(words, in: folder.path) == 0 else {
            throw NotStarted(program: "gnome-keyring-daemon, secret-tool or dbus-send")
        }
    }
}

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
