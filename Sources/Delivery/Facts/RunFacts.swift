package import Grouping
package import Timeline
package import Tracking

// What facts of runs and slots hold.

extension Fact {
    /// Which run it is.
    package struct Run: FactContent {
        /// The job's name.
        package var job: String
        /// The run's id.
        package var id: String
        /// The bot's name.
        package var bot: String

        /// A run of a job.
        package init(job: String, id: String, bot: String) {
            self.job = job
            self.id = id
            self.bot = bot
        }

        /// The run that a row names.
        package init(_ columns: FactColumns, _ payload: Never? = nil) {
            self.init(job: columns.job ?? "", id: columns.run ?? "", bot: columns.bot ?? "belfry")
        }

        /// Job, run and bot.
        package var columns: FactColumns { FactColumns(job: job, run: id, bot: bot) }

        fileprivate func columns(reason: String?) -> FactColumns {
            FactColumns(reason: reason, job: job, run: id, bot: bot)
        }
    }

    /// A run that waits for a person.
    package struct Blocked: FactContent {
        /// The run.
        package var run: Run
        /// What it waits for; the reason.
        package var kind: BlockedKind?

        /// A run that waits.
        package init(_ run: Run, kind: BlockedKind?) {
            self.run = run
            self.kind = kind
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Never?) {
            self.init(Run(columns), kind: columns.reason.flatMap(BlockedKind.init))
        }

        /// The run, and what it waits for.
        package var columns: FactColumns { run.columns(reason: kind?.rawValue) }
    }

    /// The end of a run.
    package struct End: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// What went wrong, as a sentence without a full stop.
            package var message: String?
            /// How long the last attempt took.
            package var tookMs: Int64?
            /// The limit that it reached.
            package var limitMs: Int64?
            /// When the job runs next.
            package var nextAt: ISOMoment?
            /// How far the job's zone is ahead of UTC then.
            package var nextOffsetSeconds: Int?
        }

        /// What is known of a run that did not complete, beside the message.
        package struct Circumstances: Hashable, Sendable {
            /// How long the last attempt took; nil: it did not start, or nobody saw its end.
            package var took: Duration?
            /// The limit that it reached.
            package var limit: Duration?
            /// When the job runs next, where it has a schedule.
            package var next: NextTry?

            /// Nothing, until it is known.
            package init(took: Duration? = nil, limit: Duration? = nil, next: NextTry? = nil) {
                self.took = took
                self.limit = limit
                self.next = next
            }
        }

        /// The run.
        package var run: Run
        /// Why it ended so.
        package var reason: RunReason?
        /// What went wrong, where the reason does not say enough: the line of its output that explains it best, or
        /// Belfry's own words.
        package var message: String?
        /// What else is known.
        package var circumstances: Circumstances

        /// The end of a run.
        package init(
            _ run: Run, reason: RunReason? = nil, message: String? = nil,
            circumstances: Circumstances = Circumstances()
        ) {
            self.run = run
            self.reason = reason
            self.message = message?.isEmpty == true ? nil : message
            self.circumstances = circumstances
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            var next: NextTry?
            if let at = payload?.nextAt?.moment, let offset = payload?.nextOffsetSeconds {
                next = NextTry(at: at, offsetSeconds: offset)
            }
            self.init(
                Run(columns), reason: columns.reason.flatMap(RunReason.init), message: payload?.message,
                circumstances: Circumstances(
                    took: payload?.tookMs.map { .milliseconds($0) },
                    limit: payload?.limitMs.map { .milliseconds($0) }, next: next))
        }

        /// The run, and the reason.
        package var columns: FactColumns { run.columns(reason: reason?.rawValue) }
        /// The message, and the circumstances.
        package var payload: Payload? {
            let payload = Payload(
                message: message, tookMs: circumstances.took?.milliseconds,
                limitMs: circumstances.limit?.milliseconds,
                nextAt: (circumstances.next?.at).map { ISOMoment(moment: $0) },
                nextOffsetSeconds: circumstances.next?.offsetSeconds)
            return payload == Payload() ? nil : payload
        }
    }

    /// The first success after failures.
    package struct Recovery: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// From the end of the first failure to the end of this run.
            package var outageSeconds: Int64
            /// The channels that the failures were sent to; nil: that was not recorded.
            package var channels: [String]?
            /// How often it failed in a row; nil: that was not recorded.
            package var failures: Int?
        }

        /// The run that succeeded.
        package var run: Run
        /// From the end of the first failure to the end of this run.
        package var outageSeconds: Int64?
        /// The channels that the failures were sent to; nil: that was not recorded.
        package var channels: [String]?
        /// How often it failed in a row; nil: that was not recorded.
        package var failures: Int?

        /// A recovery after an outage that was reported on these channels.
        package init(_ run: Run, outage: Duration, channels: [String]? = nil, failures: Int? = nil) {
            self.run = run
            outageSeconds = outage.microseconds / 1_000_000
            self.channels = channels
            self.failures = failures
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            run = Run(columns)
            outageSeconds = payload?.outageSeconds
            channels = payload?.channels
            failures = payload?.failures
        }

        /// The run, with the reason `recovered`.
        package var columns: FactColumns { run.columns(reason: "recovered") }
        /// How long it was down.
        package var payload: Payload? {
            outageSeconds.map { Payload(outageSeconds: $0, channels: channels, failures: failures) }
        }
    }

    /// Slots that got no run.
    package struct Slots: FactContent {
        /// Which slots they are.
        package struct Span: Hashable, Codable, Sendable {
            /// The first of them.
            package var first: Moment
            /// The last of them.
            package var last: Moment
            /// How many there are.
            package var count: Int

            /// Consecutive slots of a job.
            package init(first: Moment, last: Moment, count: Int) {
                self.first = first
                self.last = last
                self.count = count
            }

            private enum CodingKeys: String, CodingKey {
                case first = "slot"
                case last = "lastSlot"
                case count
            }

            /// Reads moments as ISO 8601.
            package init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                first = try values.decode(ISOMoment.self, forKey: .first).moment
                last = try values.decode(ISOMoment.self, forKey: .last).moment
                count = try values.decode(Int.self, forKey: .count)
            }

            /// Writes moments as ISO 8601.
            package func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: CodingKeys.self)
                try values.encode(ISOMoment(moment: first), forKey: .first)
                try values.encode(ISOMoment(moment: last), forKey: .last)
                try values.encode(count, forKey: .count)
            }
        }

        /// The job's name.
        package var job: String
        /// The bot's name.
        package var bot: String
        /// Why they got none.
        package var reason: RunReason?
        /// Which slots; `nil` where the row can't be read.
        package var span: Span?

        /// Slots of a job.
        package init(job: String, bot: String, reason: RunReason?, _ span: Span?) {
            self.job = job
            self.bot = bot
            self.reason = reason
            self.span = span
        }

        /// The content of their row.
        package init(_ columns: FactColumns, _ payload: Span?) {
            self.init(
                job: columns.job ?? "", bot: columns.bot ?? "belfry",
                reason: columns.reason.flatMap(RunReason.init), payload)
        }

        /// The job, its bot and the reason.
        package var columns: FactColumns { FactColumns(reason: reason?.rawValue, job: job, bot: bot) }
        /// Which slots.
        package var payload: Span? { span }
    }
}

/// A moment as payloads write it: ISO 8601 in UTC.
package struct ISOMoment: Hashable, Codable, Sendable {
    /// The moment.
    package var moment: Moment

    /// The moment, to be written.
    package init(moment: Moment) { self.moment = moment }

    /// Reads ISO 8601.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            moment = try Moment(iso8601: try container.decode(String.self))
        } catch let error as TimelineError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Writes ISO 8601, in UTC.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(moment.iso8601)
    }
}
