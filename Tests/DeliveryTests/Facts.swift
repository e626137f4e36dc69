import Delivery
import Testing
import Tracking

@Suite struct `the content of a fact` {
    /// A content of its own, as one more fact would bring along.
    struct Tide: FactContent {
        struct Payload: Hashable, Codable, Sendable {
            var metres: Int
        }

        var harbour: String?
        var metres: Int?

        init(harbour: String, metres: Int? = nil) {
            self.harbour = harbour
            self.metres = metres
        }

        init(_ columns: FactColumns, _ payload: Payload?) {
            harbour = columns.subject
            metres = payload?.metres
        }

        var columns: FactColumns { FactColumns(subject: harbour) }
        var payload: Payload? { metres.map(Payload.init) }
    }

    @Test(arguments: [Tide(harbour: "Husum", metres: 4), Tide(harbour: "Husum")])
    func `is what its columns and its payload hold`(_ tide: Tide) throws {
        let stored = try tide.payload.map { try JSON.encode($0) }
        let read = try stored.map { try JSON.decode(Tide.Payload.self, from: $0) }
        #expect(Tide(tide.columns, read) == tide)
        #expect(Tide(tide.columns, nil) == Tide(harbour: "Husum"))
    }
}
