//! Clients and SDKs of Rust as programs of their own: agent SDK WAY/CASE…, WAY `whole` or `stream`.
//!
//! Prints one JSON object: for each case what came, or the kind of error that was returned. All cases are
//! asked at once, each by a client of its own.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::CreateChatCompletionRequest;
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};

const KEY: &str = "sk-test-key-of-nobody";
const URL: &str = "https://api.openai.com/v1/chat/completions";

/// The variant of an error, by which programs tell one from another.
fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.split(['(', ' ', '{']).next().unwrap_or_default().to_owned()
}

fn asked(question: &str, stream: bool) -> Value {
    let messages = json!([{"role": "user", "content": question}]);
    json!({"model": "gpt-4o-mini", "messages": messages, "stream": stream})
}

async fn openai(question: &str, stream: bool) -> Result<Value, OpenAIError> {
    let client = Client::with_config(OpenAIConfig::new().with_api_key(KEY));
    let asked: CreateChatCompletionRequest = serde_json::from_value(asked(question, stream)).expect("a request");
    let finish = |reason| serde_json::to_value(reason).unwrap_or_default();
    if !stream {
        let answer = client.chat().create(asked).await?;
        let choice = &answer.choices[0];
        return Ok(json!({"text": choice.message.content, "finish": finish(choice.finish_reason)}));
    }
    let mut events = client.chat().create_stream(asked).await?;
    let (mut text, mut reason) = (String::new(), None);
    while let Some(event) = events.next().await {
        for choice in event?.choices {
            text += choice.delta.content.as_deref().unwrap_or("");
            reason = choice.finish_reason.or(reason);
        }
    }
    Ok(json!({"text": text, "finish": finish(reason)}))
}

async fn reqwest_with(native: bool, question: &str, stream: bool) -> Result<Value, reqwest::Error> {
    let client = reqwest::Client::builder()
        .tls_built_in_native_certs(native)
        .tls_built_in_webpki_certs(!native)
        .build()?;
    let body = asked(question, stream).to_string();
    let request = client.post(URL).bearer_auth(KEY).header("content-type", "application/json").body(body);
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    let text = answer.text().await?;
    Ok(if status == 200 { json!({"text": text}) } else { json!({"error": format!("HTTP {status}")}) })
}

fn kind(error: &reqwest::Error) -> &'static str {
    match error {
        _ if error.is_connect() => "reqwest::Error (connect)",
        _ if error.is_body() || error.is_decode() => "reqwest::Error (body)",
        _ => "reqwest::Error (request)",
    }
}

async fn met(sdk: &str, case: &str) -> Value {
    let (question, stream) = (format!("Tell me about rivers ({case})."), case.starts_with("stream/"));
    if sdk == "async-openai" {
        return openai(&question, stream).await.unwrap_or_else(
            |error| json!({"error": format!("OpenAIError::{}", variant(&error)), "message": error.to_string()}),
        );
    }
    reqwest_with(sdk == "reqwest-native", &question, stream)
        .await
        .unwrap_or_else(|error| json!({"error": kind(&error), "message": format!("{error:?}")}))
}

#[tokio::main]
async fn main() {
    let given: Vec<String> = std::env::args().collect();
    let cases = &given[2..];
    let found = join_all(cases.iter().map(|case| met(&given[1], case))).await;
    let all: serde_json::Map<String, Value> = cases.iter().cloned().zip(found).collect();
    println!("{}", Value::Object(all));
}
