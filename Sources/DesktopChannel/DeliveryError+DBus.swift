import DBus
import Delivery

extension DeliveryError {
    /// What a failed call to a notification server means for the notice.
    ///
    /// - Source: names of D-Bus specification 0.42 and of servers' own sources.
    init(_ error: DBusError) {
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
            switch name {
            case Self.tooManyAlike:
                self = .retry(.throttled, after: .seconds(1), detail: "\(error)")
            case _ where Self.serverIsGone.contains(name):
                self = .unreachable(.noServer, detail: "\(error)")
            case "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.NoMemory":
                self = .retry(.throttled, detail: "\(error)")
            default:
                self = .giveUp(.rejected, detail: "\(error)")
            }
        }
    }

    /// Plasma's answer to the same content twice within a second, in place or not: it is shown already.
    static let tooManyAlike = "org.freedesktop.Notifications.Error.ExcessNotificationGeneration"

    private static let serverIsGone: Set<String> = [
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
    ]
}
