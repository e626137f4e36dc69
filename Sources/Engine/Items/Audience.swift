import Delivery
import Grouping
import Ledger
import Tracking

/// Who is to hear of a run: whom the routes name, unless whoever started it by `belfry exec` wished otherwise.
struct Audience {
    private let wish: NotifyWish?
    /// Channels that hear of an end although no route sends it there.
    let also: [String]

    init(of run: RunRecord?, _ routing: Routing) {
        wish = run?.spec?.notify
        also =
            wish == .always && run?.state.isEnded == true
            ? routing.channels(for: EventType.runFailed.rawValue) : []
    }

    var isNobody: Bool { wish == .never }

    /// Whether webhooks hear of events of this type.
    func hears(_ type: EventType) -> Bool {
        switch wish {
        case nil, .always: true
        case .never: false
        case .failure: [.runFailed, .runLost, .runBlocked].contains(type)
        }
    }

    /// What the job's item hears, of what the routes ask for.
    func hears(of routed: Set<JobNews>) -> Set<JobNews> {
        switch wish {
        case nil: routed
        case .never: []
        case .failure: routed.intersection([.blocked, .failed, .lost, .recovered])
        case .always: routed.union([.completed, .failed, .canceled, .lost])
        }
    }

    /// The channels that show the item, where they are others than those of the routes.
    func channels(of type: EventType, among levels: [String], _ routing: Routing) -> [String]? {
        guard wish == .always else { return nil }
        let routed = routing.channels(for: type.rawValue) + also
        return levels.filter(routed.contains)
    }
}
