import Grouping
import Testing
import Timeline
import Tracking

/// Draws what an item does over time: one character of input is one step, one column of output as well.
///
/// `-` is a step in which nothing happens. A version that rings is drawn `[...]`, a quiet one `(...)`, one that is not
/// shown because a person put the item away `<...>`, and `x` takes the item away. Between two steps the item is saved as JSON and read again.
struct Marbles<Item: Codable> {
    /// The time between two columns.
    var step: Duration
    /// Does what a character of the input says.
    var feed: (inout Item, Character, Moment) -> [ItemAction]
    /// Wakes the item.
    var wake: (inout Item, Moment) -> [ItemAction]
    /// When the item asked to be woken.
    var flushAt: (Item) -> Moment?
    /// What a version looks like inside its brackets.
    var draw: (ItemSnapshot) -> String

    /// The drawing of the output, without the `-` at its end.
    ///
    /// The item is woken at its very moment, and drawn in the first column not before it.
    func run(_ item: Item, in input: String) throws -> String {
        var item = item
        var output = ""
        let start = Moment(seconds: 1_700_000_000)
        for (column, character) in (input + String(repeating: "-", count: 20)).enumerated() {
            let now = start + step * column
            var actions: [ItemAction] = []
            while let moment = flushAt(item), moment <= now {
                item = try reread(item)
                actions += wake(&item, moment)
            }
            if character != "-" {
                item = try reread(item)
                actions += feed(&item, character, now)
            }
            output += drawing(of: actions)
        }
        while output.last == "-" { output.removeLast() }
        return output
    }

    private func drawing(of actions: [ItemAction]) -> String {
        let drawn = actions.map { action in
            switch action {
            case .flush(let item) where item.isDismissed: "<\(draw(item))>"
            case .flush(let item): item.reason.rings ? "[\(draw(item))]" : "(\(draw(item)))"
            case .resolve: "x"
            case .wakeAt: ""
            }
        }.joined()
        return drawn.isEmpty ? "-" : drawn
    }

    private func reread(_ item: Item) throws -> Item {
        try JSON.decode(from: JSON.encode(item))
    }
}
