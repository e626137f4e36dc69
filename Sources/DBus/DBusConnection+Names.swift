extension DBusConnection {
    /// The unique name of the connection that owns `name`; `nil` when none does.
    ///
    /// Starts no service.
    package nonisolated func owner(of name: String, deadline: Duration) async throws(DBusError) -> String? {
        do throws(DBusError) {
            let answer = try await call(.bus("GetNameOwner"), [.string(name)], deadline: deadline)
            guard let owner = answer.first?.text else { throw .unexpectedReply("an owner without a name") }
            return owner
        } catch .refused(name: "org.freedesktop.DBus.Error.NameHasNoOwner", _) {
            return nil
        } catch {
            throw error
        }
    }

    /// Whether the bus can start a service for `name`.
    ///
    /// Starts no service.
    package nonisolated func canStart(_ name: String, deadline: Duration) async throws(DBusError) -> Bool {
        let answer = try await call(.bus("ListActivatableNames"), deadline: deadline)
        return answer.first?.strings?.contains(name) ?? false
    }

    /// Starts the service of `name`, and returns when it owns the name.
    package nonisolated func start(_ name: String, deadline: Duration) async throws(DBusError) {
        _ = try await call(
            .bus("StartServiceByName"), [.string(name), .uint32(0)], deadline: deadline)
    }

    /// Requests `name`; false when another connection owns it.
    package nonisolated func own(_ name: String, deadline: Duration) async throws(DBusError) -> Bool {
        let doNotQueue: UInt32 = 4
        let answer = try await call(
            .bus("RequestName"), [.string(name), .uint32(doNotQueue)], deadline: deadline)
        return answer.first?.uint32 == 1 || answer.first?.uint32 == 4
    }

    /// The id of this instance of the bus: unique, and another one after a restart.
    package nonisolated func busID(deadline: Duration) async throws(DBusError) -> String {
        let answer = try await call(.bus("GetId"), deadline: deadline)
        guard let id = answer.first?.text else { throw .unexpectedReply("a bus without an id") }
        return id
    }
}
