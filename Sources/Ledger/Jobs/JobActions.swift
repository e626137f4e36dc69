package import Delivery

/// What a job sends to a web address, and which answers are good; stored as it was written.
package struct URLAction: Hashable, Sendable, Codable {
    /// The address, with its query; never shown in an error or a log.
    package var url: String
    /// The method; nil: POST with a body, else GET.
    package var method: String?
    /// The headers, by their names.
    package var headers: [String: String] = [:]
    /// The files that hold the values of other headers, by the names of these.
    ///
    /// Read when a run starts; what they hold is never stored.
    package var secretFiles: [String: String] = [:]
    /// What is sent; nil: nothing.
    package var body: String?
    /// The good statuses, such as `2xx` or `200-204`; nil: 2xx.
    package var expect: [String]?
    /// What may be reached although it is not public, or in plain http.
    package var allow: [String]?

    /// A GET of the address.
    package init(url: String) {
        self.url = url
    }

    /// The methods there are.
    package static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// Headers that follow from the rest of a request: written by hand, they could only contradict it.
    private static let ownHeaders: Set<String> = ["content-length", "transfer-encoding", "connection"]

    /// The method that is used.
    package var effectiveMethod: String { method ?? (body == nil ? "GET" : "POST") }

    /// The good statuses, as they are used.
    package var expectedStatuses: [ClosedRange<Int>] {
        (expect ?? ["2xx"]).compactMap(Self.statuses)
    }

    /// Whom the request may reach.
    ///
    /// - Throws: ``FormError`` where nothing could ever be sent there.
    package var reach: HTTPReach {
        get throws(FormError) {
            var exceptions: [AddressException] = []
            for text in allow ?? [] { exceptions.append(try AddressException(text)) }
            return try HTTPReach(url: HTTPAddress(url), allow: exceptions)
        }
    }

    /// The statuses that a word such as `204`, `2xx` or `200-299` stands for; nil: it is none.
    package static func statuses(_ word: String) -> ClosedRange<Int>? {
        let bytes = Array(word.lowercased().utf8)
        if bytes.count == 3, bytes.dropFirst().allSatisfy({ $0 == UInt8(ascii: "x") }),
            let first = Int(word.prefix(1)), (1...5).contains(first)
        {
            return first * 100...first * 100 + 99
        }
        let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { status(String($0)) }
        guard (1...2).contains(ends.count), let low = ends[0], let high = ends.last ?? nil, low <= high else {
            return nil
        }
        return low...high
    }

    private static func status(_ digits: String) -> Int? {
        guard digits.utf8.count == 3, let status = Int(digits), (100...599).contains(status) else {
            return nil
        }
        return status
    }
}

// What is wrong with a request that was written.
extension URLAction {
    /// What is wrong with the address, and with the places it may lead to; nil: nothing.
    var addressFault: JobFault? {
        do throws(FormError) {
            _ = try reach
            return nil
        } catch {
            switch error {
            // Reported where it stands.
            case .badException: return nil
            case .secretInURL:
                var fault = JobFault(
                    "a name or password in the address would be readable here",
                    hint: "write headers: { Authorization: { file: PATH } }")
                fault.bytes = error.range
                return fault
            case .plainHTTP(let host), .notPublic(let host): return Self.closed(host, error)
            default:
                var fault = JobFault("\(error)")
                fault.bytes = error.range
                return fault
            }
        }
    }

    private static func closed(_ host: String, _ error: FormError) -> JobFault {
        let message: String =
            if case .plainHTTP = error {
                "plain http goes only to hosts that url.allow names"
            } else {
                "\(host) is not a public address"
            }
        return JobFault(
            message, hint: "write url: { url: ADDRESS, allow: [\(host)] }", advice: "add --allow \(host)")
    }

    /// What is wrong with the exceptions; nil: nothing.
    var allowFault: JobFault? {
        for text in allow ?? [] {
            do throws(FormError) { _ = try AddressException(text) } catch { return JobFault("\(error)") }
        }
        return nil
    }

    /// What is wrong with the expected statuses; nil: nothing.
    var expectFault: JobFault? {
        guard let bad = (expect ?? []).first(where: { Self.statuses($0) == nil }) else { return nil }
        return JobFault("\"\(bad)\" is not a status", hint: "write one as 200, 2xx or 200-204")
    }

    /// What is wrong with the headers; nil: nothing.
    var headersFault: JobFault? {
        for (name, value) in headers.merging(secretFiles.mapValues { _ in "" }, uniquingKeysWith: { $1 })
            .sorted(by: { $0.key < $1.key })
        {
            var fault: JobFault?
            if !name.utf8.allSatisfy(Self.isTokenByte) || name.isEmpty {
                fault = JobFault("\"\(name)\" is not the name of a header", hint: "write one as Content-Type")
            } else if Self.ownHeaders.contains(name.lowercased()) {
                fault = JobFault("Belfry sets this header itself")
            } else if value.utf8.contains(where: { $0 != 0x09 && ($0 < 0x20 || $0 == 0x7F) }) {
                fault = JobFault("the value of a header is one line of text")
            }
            if fault != nil {
                fault?.key = name
                return fault
            }
        }
        return nil
    }

    /// - Source: RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// A process that was running already and that a run only waits for, as `belfry exec --attach` starts it.
package struct FollowedProcess: Hashable, Sendable {
    /// The hidden subcommand of `belfry` that waits.
    package static let command = "attach-wait"
    /// What the waiting program kills itself with when it could not learn how the process ended.
    package static let unknownEnd = 12  // SIGUSR2

    /// The process's id.
    package var pid: Int32
    /// When it started, in clock ticks since the machine did.
    package var startTime: UInt64

    /// A process by its id and its start.
    package init(pid: Int32, startTime: UInt64) {
        (self.pid, self.startTime) = (pid, startTime)
    }

    /// The process that this command waits for; nil: it is another command.
    package init?(command words: [String]) {
        guard words.count == 4, words[1] == Self.command, let pid = Int32(words[2]),
            let start = UInt64(words[3])
        else { return nil }
        self.init(pid: pid, startTime: start)
    }

    /// The command that waits, of the program `executable`.
    package func command(of executable: String) -> [String] {
        [executable, Self.command, String(pid), String(startTime)]
    }
}

extension JobSpec {
    /// The process that a run of this only waits for; nil: it starts its own.
    package var followedProcess: FollowedProcess? {
        guard case .command(let words) = action else { return nil }
        return FollowedProcess(command: words)
    }
}
