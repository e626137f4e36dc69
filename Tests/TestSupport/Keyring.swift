import Foundation

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
