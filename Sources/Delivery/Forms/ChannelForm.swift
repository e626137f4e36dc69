package import Timeline
package import Tracking

/// A kind of channel, described by one file: its settings, what it sends, and what answers mean.
///
/// Pure: a form never sends. A sender of its ``FormCarrier`` does that for all forms of one transport. How to add one:
/// <doc:AddAForm>.
package protocol ChannelForm: Hashable, Sendable {
    /// Its `kind:` in the config file, and whether it edits in place.
    static var kind: ChannelKind { get }
    /// The keys of its settings besides `kind`; the first one is the one that faults of the whole point at.
    static var fields: [FormField] { get }
    /// Keys of later versions, which deserve another sentence than "unknown".
    static var laterFields: [String] { get }
    /// Who is at its other end; people, as left out.
    static var audience: Audience { get }
    /// Whether the progress of runs may be sent to it: it edits in place, replaces what it was sent, or is a program; as left
    /// out, the first and the last.
    static var takesProgress: Bool { get }

    /// Settings as they were read.
    /// - Throws: ``FormError`` with the key at fault.
    init(_ values: FormValues) throws(FormError)

    /// Who sends for it.
    var carrier: FormCarrier { get }
    /// Why nothing may arrive although the settings are good, and what to do; `nil`: nothing is known.
    var doubt: (message: String, hint: String)? { get }
}

extension ChannelForm {
    /// The kind of this form.
    package var kind: ChannelKind { Self.kind }
    package static var laterFields: [String] { [] }
    package static var audience: Audience { .people }
    package static var takesProgress: Bool { kind.isLevel || audience == .programs }
    package var doubt: (message: String, hint: String)? { nil }
}

/// What a kind of channel is called, and how it is served.
package struct ChannelKind: Hashable, Sendable {
    /// The `kind:` of the config file.
    package let rawValue: String
    /// Whether items are edited in place (surfaces) instead of sent once (outbox entries).
    package let isLevel: Bool

    /// A kind.
    package init(_ rawValue: String, isLevel: Bool) {
        self.rawValue = rawValue
        self.isLevel = isLevel
    }
}

/// Which sender carries a form's requests.
package enum FormCarrier: Sendable {
    /// Calls of the notification server on the session bus.
    case desktop(DesktopForm)
    /// Requests by HTTP, each thing once.
    case http(any HTTPForm)
    /// Requests by HTTP that edit in place.
    case httpLevel(any HTTPLevelForm)
    /// Calls of a program.
    case program(any ProgramForm)
    /// Mails to a mail server.
    case mail(MailForm, MailServer)

    /// The form where it speaks HTTP.
    package var service: (any HTTPService)? {
        switch self {
        case .desktop, .program, .mail: nil
        case .http(let form): form
        case .httpLevel(let form): form
        }
    }
}

/// The forms there are.
package enum ChannelForms {
    /// In the order in which hints name them.
    package static let all: [any ChannelForm.Type] = [
        DesktopForm.self, WebhookForm.self, NtfyForm.self, SlackForm.self, DiscordForm.self, GotifyForm.self,
        TelegramForm.self, MatrixForm.self, TeamsForm.self, CloudEventsForm.self, AlertmanagerForm.self,
        PagerDutyForm.self, PingForm.self, LiveActivityForm.self, TemplateForm.self, MailForm.self,
        CommandForm.self,
    ]

    /// Kinds of later versions, which deserve another sentence than "unknown".
    package static let laterKinds: [String] = []
}

/// A form whose channels send each thing once.
package protocol EdgeForm: ChannelForm {
    /// The bytes of what is sent.
    ///
    /// They are kept in the ledger from the moment they are queued, and are the same on every attempt; a secret is never
    /// among them.
    func render(_ bulletin: Bulletin) -> [UInt8]

    /// Whether it has room for messages as they were posted; others get as much of them as a popup shows.
    static var showsWholeMessages: Bool { get }
}

extension EdgeForm {
    package static var showsWholeMessages: Bool { false }
}

/// What an edge form renders: something that happened, or a version of an item.
package struct Bulletin: Sendable {
    /// What it is, with its type and its reason.
    package var matter: Matter
    /// When it happened.
    package var at: Moment
    /// What a person reads of it: the same words as on the desktop.
    package var notice: Notice
    /// The objects it is about as JSON, by name: `run`, `item`, `question`, `channel`.
    package var objects: [JSON.Member]

    /// What is to be rendered.
    package init(_ matter: Matter, at: Moment, notice: Notice, objects: [JSON.Member] = []) {
        self.matter = matter
        self.at = at
        self.notice = notice
        self.objects = objects
    }

    /// What it means for whoever keeps a list of what is wrong.
    package enum Standing: Hashable, Sendable {
        /// Something is wrong until it is `over`.
        case wrong
        /// What was wrong with the same item no longer is.
        case over
        /// Something to read.
        case word
    }

    /// What it means for whoever keeps a list of what is wrong.
    package var standing: Standing {
        switch EventType(rawValue: matter.type) {
        case .runFailed, .runLost, .runLate, .runSlow, .runStuck, .runFlapping, .channelFailing,
            .channelDisabled, .ledgerFull, .configPartial, .jobLeftOut:
            .wrong
        case .runCompleted, .runRecovered, .channelRestored, .ledgerRestored: .over
        default: .word
        }
    }

    /// The object of that name.
    func object(_ name: String) -> JSON? { objects.first { $0.name == name }?.value }
}
