import DBus
import Delivery

/// What a server answered to a call after everybody stopped waiting for it.
struct LateAnswer: Sendable {
    /// A call to a server, and what it was for.
    struct Call: Sendable {
        /// Counts the calls of one connection.
        let number: Int
        /// The server that was called, in that life.
        let server: ServerProfile
        /// What it should show, and in the place of what; `nil` for a call that closes something.
        let showing: (notice: Notice, replacing: RemoteID?)?
    }

    let call: Call
    let answer: Result<[DBusValue], DBusError>

    /// What became of the notice; `nil` where it was no notice.
    func shown(as form: DesktopForm) -> Result<RemoteID, DeliveryError>? {
        guard let showing = call.showing else { return nil }
        return call.server.shown(by: answer, replacing: showing.replacing, as: form)
    }
}

extension ServerProfile {
    /// What an answer to `Notify` means.
    func shown(
        by answer: Result<[DBusValue], DBusError>, replacing remote: RemoteID?, as form: DesktopForm
    ) -> Result<RemoteID, DeliveryError> {
        switch answer {
        case .success(let values):
            guard let number = values.first?.uint32 else {
                return .failure(DeliveryError(.unexpectedReply("no id from Notify"), of: form))
            }
            return .success(self.remote(number))
        case .failure(.refused(DesktopForm.tooManyAlike, _)) where number(of: remote) != nil:
            return remote.map { .success($0) } ?? .failure(.giveUp(.badAnswer))
        case .failure(let error):
            return .failure(DeliveryError(error, of: form))
        }
    }
}

extension DeliveryError {
    /// What a failed call to a notification server means for the notice.
    init(_ error: DBusError, of form: DesktopForm) {
        switch error {
        case .disconnected, .cannotConnect, .badAddress:
            self = .unreachable(.noBus, detail: "\(error)")
        case .timedOut:
            self = .unreachable(.timeout, detail: "the notification server does not answer")
        case .outOfMemory:
            self = .retry(.serverError, detail: "\(error)")
        case .invalidArgument:
            self = .giveUp(.unsendable, detail: "\(error)")
        case .unexpectedReply:
            self = .giveUp(.badAnswer, detail: "\(error)")
        case .refused(let name, _):
            self = form.judge(error: name, detail: "\(error)")
        }
    }
}

extension DesktopNotification {
    /// The arguments of `Notify`, in the place of the notification of that number; 0: of none.
    func arguments(replacing number: UInt32) -> [DBusValue] {
        [
            .string(appName), .uint32(number), .string(icon), .string(summary), .string(body),
            .strings(actions), .hints(hints.map { ($0.name, DBusValue($0.value)) }), .int32(expiry),
        ]
    }
}

extension DBusValue {
    /// The value of a hint, with its type.
    fileprivate init(_ hint: DesktopNotification.Hint) {
        switch hint {
        case .byte(let value): self = .byte(value)
        case .int32(let value): self = .int32(value)
        case .string(let value): self = .string(value)
        case .bool(let value): self = .bool(value)
        }
    }
}
