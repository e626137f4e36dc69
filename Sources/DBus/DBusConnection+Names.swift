extension DBusConnection {
    /// The unique name of who owns `name`; `nil` when nobody does.
    ///
    /// Starts nobody.
    package func owner(of name: String, deadline: Duration) async throws(DBusError) -> String? {
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

    /// Whether the bus could start somebody for `name`.
    ///
    /// Starts nobody.
    package func canStart(_ name: String, deadline: Duration) async throws(DBusError) -> Bool {
        let answer = try await call(.bus("ListActivatableNames"), deadline: deadline)
        return answer.first?.strings?.contains(name) ?? false
    }

    /// Lets the bus start whoever serves `name`, and returns when it owns the name.
    package func start(_ name: String, deadline: Duration) async throws(DBusError) {
        _ = try await call(
            .bus("StartServiceByName"), [.string(name), .uint32(0)], deadline: deadline)
    }

    /// Takes `name` for us; false when somebody else keeps it.
    package func own(_ name: String, deadline: Duration) async throws(DBusError) -> Bool {
        let doNotQueue: UInt32 = 4
        let answer = try await call(
            .bus("RequestName"), [.string(name), .uint32(doNotQueue)], deadline: deadline)
        return answer.first?.uint32 == 1 || answer.first?.uint32 == 4
    }

    /// What tells this bus from every other, also after a restart of the machine.
    package func busID(deadline: Duration) async throws(DBusError) -> String {
        let answer = try await call(.bus("GetId"), deadline: deadline)
        guard let id = answer.first?.text else { throw .unexpectedReply("a bus without an id") }
        return id
    }
}
