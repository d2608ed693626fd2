//! Calls a URL so many times with reqwest and no proxy: with the system's roots (`native`), or with those that
//! are compiled in (`webpki`).

use std::env;
use std::process::exit;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let compiled = arguments[3] == "webpki";
    let count: u32 = arguments[2].parse().expect("a count");
    let client = reqwest::blocking::Client::builder()
        .no_proxy()
        .tls_built_in_webpki_certs(compiled)
        .tls_built_in_native_certs(!compiled)
        .build()
        .expect("a client");
    for _ in 0..count {
        match client.get(&arguments[1]).send() {
            Ok(answer) => println!("{}", answer.status().as_u16()),
            Err(error) => {
                eprintln!("{error:?}");
                exit(1);
            }
        }
    }
}
