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
    var shown: Result<RemoteID, DeliveryError>? {
        guard let showing = call.showing else { return nil }
        return call.server.shown(by: answer, replacing: showing.replacing)
    }
}

extension ServerProfile {
    /// What an answer to `Notify` means.
    func shown(
        by answer: Result<[DBusValue], DBusError>, replacing remote: RemoteID?
    ) -> Result<RemoteID, DeliveryError> {
        switch answer {
        case .success(let values):
            guard let number = values.first?.uint32 else {
                return .failure(DeliveryError(.unexpectedReply("no id from Notify")))
            }
            return .success(self.remote(number))
        case .failure(.refused(DeliveryError.tooManyAlike, _)) where number(of: remote) != nil:
            return remote.map { .success($0) } ?? .failure(.giveUp(.badAnswer))
        case .failure(let error):
            return .failure(DeliveryError(error))
        }
    }
}
