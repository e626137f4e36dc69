import DBus
import Delivery
import Logging

/// A signal of the bus or of a notification server, read.
enum ServerSignal: Equatable {
    /// The server's name has a new owner, or none.
    case ownerChanged(String?)
    /// The name of who shows jobs has a new owner, or none.
    case jobsOwnerChanged(String?)
    /// A notification was closed.
    case closed(UInt32, CloseReason)
    /// A button was pressed.
    case action(UInt32, key: String)
    /// A reply was typed.
    case reply(UInt32, text: String)
    /// What lets a window that opens for the next button come to the front.
    case activation(UInt32, token: String)

    /// Reads `signal` if it comes from the bus, or from `server` and not from somebody who plays it.
    init?(_ signal: DBusSignal, from server: String?) {
        switch (signal.interface, signal.member) {
        case ("org.freedesktop.DBus", "NameOwnerChanged") where signal.sender == "org.freedesktop.DBus":
            guard signal.arguments.count == 3, let owner = signal.arguments[2].text else { return nil }
            let known = owner.isEmpty ? nil : owner
            switch signal.arguments[0].text {
            case ServerProfile.service: self = .ownerChanged(known)
            case JobViews.service: self = .jobsOwnerChanged(known)
            default: return nil
            }
        case (ServerProfile.service, "NotificationClosed") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let reason = signal.arguments[1].uint32
            else { return nil }
            self = .closed(number, CloseReason(code: reason))
        case (ServerProfile.service, "ActionInvoked") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let key = signal.arguments[1].text
            else { return nil }
            self = .action(number, key: key)
        // - Source: Desktop Notifications Specification 1.3, `ActivationToken`.
        case (ServerProfile.service, "ActivationToken") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let token = signal.arguments[1].text
            else { return nil }
            self = .activation(number, token: token)
        // - Source: knotifications and plasma-workspace; swaync sends the same.
        case (ServerProfile.service, "NotificationReplied") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let text = signal.arguments[1].text
            else { return nil }
            self = .reply(number, text: text)
        default: return nil
        }
    }
}

extension CloseReason {
    /// - Source: Desktop Notifications Specification 1.2, `NotificationClosed`.
    fileprivate init(code: UInt32) {
        switch code {
        case 1: self = .expired
        case 2: self = .dismissed
        case 3: self = .closedByUs
        default: self = .undefined
        }
    }
}

/// What the channel reports: signals as they come, and each state once.
struct StateReports {
    private let signals: AsyncStream<SurfaceSignal>.Continuation
    private let logger: Logger
    private var lastState: SurfaceSignal?
    /// Whether there was a server, or one that the bus can start, at any time so far.
    private var wasThere = false

    init(to signals: AsyncStream<SurfaceSignal>.Continuation, logger: Logger) {
        self.signals = signals
        self.logger = logger
    }

    /// Reports what happened to something that is shown.
    func send(_ signal: SurfaceSignal) { signals.yield(signal) }

    /// Reports a state unless it is the same as the last; that it is away is logged by who has something to show.
    mutating func report(_ state: SurfaceSignal, by server: ServerProfile? = nil) {
        guard state != lastState else { return }
        lastState = state
        signals.yield(state)
        switch state {
        case .available:
            wasThere = true
            logger.notice("desktop available", metadata: ["server": "\(server?.title ?? "starts on demand")"])
        case .unavailable(let reason), .absent(let reason):
            logger.debug("desktop unavailable", metadata: ["reason": "\(reason)"])
        case .closed, .action, .reply, .answered: break
        }
    }

    /// The state that no server is there: where none ever was, as on a machine without a desktop, that is no fault.
    func away(_ reason: String) -> SurfaceSignal { wasThere ? .unavailable(reason) : .absent(reason) }
}
