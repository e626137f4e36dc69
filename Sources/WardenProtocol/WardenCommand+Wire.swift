import Timeline

// The numbers in this file are the protocol: they are never used again for something else.

extension WardenCommand {
    /// The frame that says this.
    package var frame: [UInt8] {
        switch self {
        case .hello(let version):
            var fields = FieldWriter(kind: 1)
            fields.put(1, version)
            return fields.frame()
        case .start(let order):
            var fields = FieldWriter(kind: 2)
            order.write(to: &fields)
            return fields.frame()
        case .cancel(let key, let reason):
            var fields = FieldWriter(kind: 3)
            fields.put(1, key)
            fields.put(2, reason)
            return fields.frame()
        case .query(let key):
            var fields = FieldWriter(kind: 4)
            if let key { fields.put(1, key) }
            return fields.frame()
        case .acknowledge(let key):
            var fields = FieldWriter(kind: 5)
            fields.put(1, key)
            return fields.frame()
        }
    }

    /// Reads a frame of ``FrameBuffer``; nil when it is of a kind this version does not know.
    package init?(kind: UInt8, _ bytes: ArraySlice<UInt8>) throws(WardenError) {
        let fields = try Fields(kind: kind, bytes)
        switch kind {
        case 1: self = .hello(version: try fields.number(1))
        case 2: self = .start(try StartOrder(fields))
        case 3:
            let reason = try fields.text(2)
            guard reason.utf8.count <= 64 else { throw .badValue(kind: kind, number: 2) }
            self = .cancel(try fields.key(1), reason: reason)
        case 4: self = .query(fields.has(1) ? try fields.key(1) : nil)
        case 5: self = .acknowledge(try fields.key(1))
        default: return nil
        }
    }
}

extension StartOrder {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.put(1, key)
        switch work {
        case .command(let words): for word in words { fields.put(2, word) }
        case .shell(let text): fields.put(3, text)
        }
        for (name, value) in environment { fields.put(4, name + "=" + value) }
        fields.put(5, ifKnown: folder)
        fields.put(6, ifKnown: timeout.map { Int($0.microseconds) })
        fields.put(7, Int(grace.microseconds))
        fields.put(8, output.path)
        fields.put(9, output.headBytes)
        fields.put(10, output.tailBytes)
        fields.put(11, isOutputWatched ? 1 : 0)
        fields.put(12, ifKnown: umask.map(Int.init))
    }

    fileprivate init(_ fields: Fields) throws(WardenError) {
        let kind: UInt8 = 2
        var environment: [String: String] = [:]
        for pair in try fields.texts(4) {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw .badValue(kind: kind, number: 4)
            }
            environment[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
        let (grace, head, tail) = (try fields.number(7), try fields.number(9), try fields.number(10))
        guard grace >= 0 else { throw .badValue(kind: kind, number: 7) }
        guard (0...1 << 40).contains(head) else { throw .badValue(kind: kind, number: 9) }
        guard (0...1 << 40).contains(tail) else { throw .badValue(kind: kind, number: 10) }
        let timeout = fields.optionalNumber(6)
        guard timeout.map({ $0 > 0 }) ?? true else { throw .badValue(kind: kind, number: 6) }
        let words = try fields.texts(2)
        self.init(
            key: try fields.key(1),
            work: try fields.optionalText(3).map(Work.shell) ?? .command(words),
            environment: environment, folder: try fields.optionalText(5),
            timeout: timeout.map { .microseconds($0) }, grace: .microseconds(grace),
            output: Output(path: try fields.text(8), headBytes: head, tailBytes: tail),
            isOutputWatched: fields.optionalNumber(11) != 0,
            umask: fields.optionalNumber(12).map { UInt32(truncatingIfNeeded: $0) & 0o777 })
    }
}
