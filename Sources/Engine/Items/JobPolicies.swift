import Delivery
import Grouping

/// What the channels that edit in place want to hear of a job: all of them together, and each by itself.
struct JobPolicies {
    /// What any of them hears.
    private(set) var all: JobPolicy
    /// What each hears, by name.
    private(set) var each: [String: JobPolicy]
    /// Those that hear less than all together.
    let apart: Set<String>

    init(_ routing: Routing, levels: [String]) {
        let all = JobPolicy(hears: routing.hears(Set(levels)))
        let each = Dictionary(levels.map { ($0, JobPolicy(hears: routing.hears([$0]))) }) { first, _ in first
        }
        (self.all, self.each) = (all, each)
        apart = Set(each.filter { $0.value.hears != all.hears }.keys)
    }

    /// That of a channel, or of all together.
    func policy(of channel: String?) -> JobPolicy { channel.flatMap { each[$0] } ?? all }

    /// What they hear of a run that was started with this wish, and of what ends where `only` these channels show it.
    func heard(by wish: NotifyWish?, only: [String]? = nil) -> JobPolicies {
        var heard = self
        heard.all.hears = wish.hears(of: all.hears)
        for (name, policy) in each where only?.contains(name) ?? true {
            heard.each[name]?.hears = wish.hears(of: policy.hears)
        }
        return heard
    }
}
