package import API

/// What stands before an answer's body.
package struct HTTPAnswerHead: Hashable, Sendable {
    /// 100...599.
    package var status: Int
    /// The header fields, names in lower case, in order.
    package var fields: [Field]

    /// A name with its value.
    package struct Field: Hashable, Sendable {
        /// In lower case.
        package var name: String
        /// Without the blanks around it.
        package var value: String
    }

    /// The first value of a field, by its name in lower case.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}

// A state machine: the states of an answer on the wire, and what leads from one to the next.

/// Takes one HTTP/1.1 answer apart, however its bytes are cut, and trusts nothing in it.
///
/// - Source: RFC 9112, 4 to 7. Folded header lines are refused; trailers are skipped.
package struct HTTPAnswerParser: Sendable {
    /// The most bytes of a head, of a chunk's size line, and of all trailers.
    package static let headLimit = 64 * 1024

    /// What bytes brought about.
    package enum Part: Hashable, Sendable {
        /// The head is complete.
        case head(HTTPAnswerHead)
        /// A part of the body, never empty.
        case body([UInt8])
        /// The answer is complete; what follows it is not read.
        case end
    }

    private enum State: Hashable {
        /// In the head, or in one that only announces the real one (1xx).
        case head
        /// This many bytes of the body are missing.
        case counted(Int)
        /// The body ends with the connection.
        case untilEnd
        /// In the line that says how large the next chunk is.
        case chunkSize
        /// This many bytes of the chunk are missing.
        case chunk(Int)
        /// In the line end after a chunk.
        case chunkEnd
        /// In what follows the last chunk.
        case trailers
        /// The answer is complete.
        case done
    }

    private var state = State.head
    /// The unfinished line.
    private var line: [UInt8] = []
    private var lines: [[UInt8]] = []
    private var headSize = 0

    /// A parser before the first byte of an answer.
    package init() {}

    /// The parts that `bytes` complete.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/notBelfry`` for anything that is not such an answer.
    package mutating func receive(_ bytes: some Collection<UInt8>) throws(APIError) -> [Part] {
        var parts: [Part] = []
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            switch state {
            case .head, .chunkSize, .chunkEnd, .trailers:
                guard let line = try takeLine(&rest) else { return parts }
                if let part = try endLine(line) { parts.append(part) }
                if case .counted(0) = state { state = .done }
                if state == .done { parts.append(.end) }
            case .counted(let missing), .chunk(let missing):
                let part = rest.prefix(missing)
                rest = rest.dropFirst(part.count)
                parts.append(.body(Array(part)))
                consume(part.count, of: missing)
                if state == .done { parts.append(.end) }
            case .untilEnd:
                parts.append(.body(Array(rest)))
                return parts
            case .done:
                return parts
            }
        }
        return parts
    }

    /// The parts that the end of the connection completes.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/connectionLost`` when the answer is not complete.
    package mutating func finish() throws(APIError) -> [Part] {
        switch state {
        case .done: return []
        case .untilEnd:
            state = .done
            return [.end]
        case .head, .counted, .chunkSize, .chunk, .chunkEnd, .trailers:
            throw APIError(.connectionLost)
        }
    }

    private mutating func consume(_ count: Int, of missing: Int) {
        let left = missing - count
        if case .chunk = state {
            state = left == 0 ? .chunkEnd : .chunk(left)
        } else {
            state = left == 0 ? .done : .counted(left)
        }
    }

    /// The next whole line without its end; nil when `rest` holds none.
    private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) throws(APIError) -> [UInt8]? {
        let end = rest.firstIndex(of: 0x0A)
        let part = rest[..<(end ?? rest.endIndex)]
        headSize += part.count + 1
        guard headSize <= Self.headLimit else { throw refuse("its head is larger than 64 KiB") }
        line += part
        rest = end.map { rest[($0 + 1)...] } ?? []
        guard end != nil else { return nil }
        var whole = line
        line = []
        if whole.last == 0x0D { whole.removeLast() }
        return whole
    }

    private mutating func endLine(_ line: [UInt8]) throws(APIError) -> Part? {
        switch state {
        case .head:
            guard line.isEmpty else {
                lines.append(line)
                return nil
            }
            return try endHead()
        case .chunkSize:
            headSize = 0
            let size = try chunkSize(line)
            state = size == 0 ? .trailers : .chunk(size)
            return nil
        case .chunkEnd:
            guard line.isEmpty else { throw refuse("a chunk is longer than it said") }
            headSize = 0
            state = .chunkSize
            return nil
        case .trailers:
            if line.isEmpty { state = .done }
            return nil
        case .counted, .untilEnd, .chunk, .done:
            return nil
        }
    }

    private mutating func endHead() throws(APIError) -> Part? {
        let head = HTTPAnswerHead(status: try status(), fields: try lines.dropFirst().map(field))
        lines = []
        headSize = 0
        guard head.status >= 200 else { return nil }
        if head.status == 204 || head.status == 304 {
            state = .done
        } else if let coding = head["transfer-encoding"] {
            guard coding.lowercased() == "chunked", head["content-length"] == nil else {
                throw refuse("its body is coded in an unknown way")
            }
            state = .chunkSize
        } else if let text = head["content-length"] {
            guard let length = Int(text), length >= 0, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
                head.fields.filter({ $0.name == "content-length" }).count == 1
            else { throw refuse("its length is not a number") }
            state = .counted(length)
        } else {
            state = .untilEnd
        }
        return .head(head)
    }

    private func status() throws(APIError) -> Int {
        guard let first = lines.first else { throw refuse("it begins with an empty line") }
        let words = String(decoding: first, as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            let status = Int(words[1]), (100...599).contains(status)
        else { throw refuse("it does not begin like one") }
        return status
    }

    private func field(_ line: [UInt8]) throws(APIError) -> HTTPAnswerHead.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw refuse("a header line is broken") }
        let blanks: Set<UInt8> = [0x20, 0x09]
        var value = line[(colon + 1)...]
        while let first = value.first, blanks.contains(first) { value.removeFirst() }
        while let last = value.last, blanks.contains(last) { value.removeLast() }
        return HTTPAnswerHead.Field(
            name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
            value: String(decoding: value, as: UTF8.self))
    }

    private func chunkSize(_ line: [UInt8]) throws(APIError) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
        // Seven digits are 256 MiB: no sender of ours makes larger chunks.
        guard (1...7).contains(digits.count),
            digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw refuse("a chunk's size is not a number") }
        return size
    }

    private func refuse(_ why: String) -> APIError {
        APIError(.notBelfry, "what answers is not a Belfry daemon: \(why)")
    }
}
