import Glibc

/// The service manager that started this process, where one did.
package enum ServiceManager {
    /// Notifies it that this process is ready; does nothing when no manager waits for that.
    ///
    /// - Source: sd_notify(3), `READY=1`.
    package static func sayReady(environment: [String: String] = Machine.environment) throws(HostError) {
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return }
        let socket = try LocalSocket.connectDatagram(path)
        try socket.writeAll(Array("READY=1".utf8)[...])
    }
}
