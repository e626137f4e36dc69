/// The runs of one job that have not ended: mostly one, which needs no set.
enum OpenRuns {
    case none
    case one(String)
    case many(Set<String>)

    var ids: Set<String> {
        switch self {
        case .none: []
        case .one(let id): [id]
        case .many(let ids): ids
        }
    }

    var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .many(let ids): ids.count
        }
    }

    mutating func insert(_ id: String) {
        switch self {
        case .none: self = .one(id)
        case .one(let first): if first != id { self = .many([first, id]) }
        case .many(var ids):
            self = .none
            ids.insert(id)
            self = .many(ids)
        }
    }

    mutating func remove(_ id: String) {
        switch self {
        case .none: break
        case .one(let only): if only == id { self = .none }
        case .many(var ids):
            self = .none
            ids.remove(id)
            self = .many(ids)
        }
    }
}
