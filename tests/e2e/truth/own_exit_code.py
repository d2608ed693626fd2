"""An agent on the official openai SDK that exits with 4 where what is wanted does not stand in the answer, as
`grep` exits with 1; a model that repeats its prompt answers in a stream.

own_exit_code.py PROMPT WANTED
"""

import sys

from openai import OpenAI


def main():
    client = OpenAI(max_retries=0)
    messages = [{"role": "user", "content": sys.argv[1]}]
    text = ""
    for event in client.chat.completions.create(model="gpt-4o", messages=messages, stream=True):
        text += (event.choices[0].delta.content or "") if event.choices else ""
    print(text)
    sys.exit(0 if sys.argv[2] in text else 4)


main()
