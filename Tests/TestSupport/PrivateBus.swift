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
