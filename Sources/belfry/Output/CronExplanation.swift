/// What `cron explain --json` says.
struct CronExplanation: Encodable {
    let expression: String
    let zone: String
    let words: String
    /// The text with the same meaning in numbers and the fewest fields.
    let canonical: String
    let occurrences: [String]
    let warnings: [CronAnswer.Remark]
    /// What is true of its dates and easily overlooked.
    let notes: [String]
}
